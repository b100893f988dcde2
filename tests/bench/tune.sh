#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: tune.sh TOOL FOLDER. What tune prints is what config --check accepts.
set -eu
folder=$(mktemp -d "$2/tune_XXXXXX")
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/logs"
"$1" tune --dir "$folder/logs" --time 1 --bytes 1MiB >"$folder/tuned.toml"
"$1" config --check "$folder/tuned.toml"
[ -z "$(ls "$folder/logs")" ] || { echo "left behind:"; ls "$folder/logs"; exit 1; }
