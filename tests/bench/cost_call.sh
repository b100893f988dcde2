#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: cost_call.sh SCRIPT. Wrong calls are refused before anything is compiled; a small call gives a row for each way to log.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
refused() {
  expected=$1
  says=$2
  shift 2
  "$@" >"$folder/out" 2>"$folder/err"
  status=$?
  [ $status -eq "$expected" ] || { echo "$*: status $status instead of $expected"; exit 1; }
  grep -q -- "$says" "$folder/err" || { echo "$*: does not say '$says':"; cat "$folder/err"; exit 1; }
  [ ! -s "$folder/out" ] || { echo "$*: standard output is not empty"; exit 1; }
}
refused 2 "no option --site" "$1" --site 100
refused 2 "not a multiple of 100" "$1" --sites 150
refused 2 "wants a value" "$1" --repeat
refused 1 "no compiler no-such-compiler" "$1" --compiler no-such-compiler
refused 1 "no include/quill/Logger.h" "$1" --quill "$folder"

"$1" --sites 100 --repeat 1 --flags -O0 --keep "$folder/kept" >"$folder/out" 2>"$folder/err" || { cat "$folder/err"; exit 1; }
for row in '^penstock  ' '^penstock-functions '; do
  # Nothing of a row is free: code, constants and data of each statement.
  grep -E "$row" "$folder/out" | awk '{ exit !($2 > 1000 && $6 > 100 && $7 > 10 && $8 > 10) }' || { cat "$folder/out"; exit 1; }
done
[ "$(grep -c PENSTOCK_INFO "$folder/kept/penstock/0.cpp")" -eq 100 ] || { echo "there are not 100 statements"; exit 1; }
