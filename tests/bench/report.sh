#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: report.sh TOOL FOLDER. The report of a smoke run: one page that needs no other file, with a picture for each suite.
set -eu
folder=$(mktemp -d "$2/report_XXXXXX")
trap 'rm -rf "$folder"' EXIT
"$1" bench all --smoke --dir "$folder" --report "$folder/report"
page="$folder/report/index.html"
[ "$(grep -c '</svg>' "$page")" -eq 5 ] || { echo "not five pictures"; exit 1; }
for suite in japm copy buffer mapped sequential sinks; do
  grep -q "<h2 id=\"$suite\">" "$page" || { echo "no $suite"; exit 1; }
done
if grep -qE '(src|href)="(https?|file):' "$page"; then echo "the page needs other files"; exit 1; fi
grep -q ',measured$' "$folder/report/results.csv"
