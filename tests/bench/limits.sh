#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: limits.sh TOOL FOLDER. `bench sinks --limits` in its smoke form: all nineteen ratios are told, verified bytes, nothing is left; its
# wrong calls; and a run that is interrupted.
set -u
folder=$(mktemp -d "$2/limits_XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/work"
. "$(dirname "$0")/interrupt_once.sh"

"$1" bench sinks --limits --smoke --dir "$folder/work" --csv "$folder/all.csv" --json "$folder/all.json" >"$folder/out" 2>"$folder/err" ||
  fail "the smoke run failed: $(cat "$folder/err")"
[ -z "$(ls "$folder/work")" ] || fail "left behind: $(ls "$folder/work")"
head -n 1 "$folder/all.csv" | grep -q '^number,what,unit,median,min,max,target,verdict,pairs,discarded,reason$' || fail "no CSV"
row=1
while [ $row -le 19 ]; do
  grep -qE "^ ?$row  " "$folder/out" || fail "the table has no row $row"
  grep -qE "^$row,.*,(met|not met|no target|not measurable here)," "$folder/all.csv" || fail "the CSV has no row $row"
  grep -q "\"number\": $row," "$folder/all.json" || fail "the JSON has no row $row"
  row=$((row + 1))
done
# What cannot be measured says why.
if grep ',not measurable here,0,[0-9]*,$' "$folder/all.csv"; then fail "these give no reason"; fi
grep -q 'SMOKE RUN' "$folder/out" || fail "a smoke run must say that it is one"

"$1" bench sinks --limits --smoke --rows 1,15-16 --dir "$folder/work" --csv "$folder/few.csv" >"$folder/out" 2>"$folder/err" ||
  fail "--rows failed"
rows=$(cut -d, -f1 "$folder/few.csv" | tail -n +2 | sort -nu | tr '\n' ' ')
[ "$rows" = "1 15 16 " ] || fail "not the rows 1, 15 and 16: $rows"

refused() {
  says=$1
  shift
  "$@" >"$folder/out" 2>"$folder/err"
  status=$?
  [ $status -eq 2 ] || fail "$*: status $status instead of 2"
  grep -q -- "$says" "$folder/err" || fail "$*: does not say '$says': $(cat "$folder/err")"
  [ ! -s "$folder/out" ] || fail "$*: standard output is not empty"
}
refused "--limits" "$1" bench sinks --rows 1
refused "'20' in '3,20' is no row" "$1" bench sinks --limits --rows 3,20
refused "runs backwards" "$1" bench sinks --limits --rows 5-1
refused "does not know --benchmark_filter=x" "$1" bench sinks --limits --benchmark_filter=x

"$1" bench sinks --limits --rows 1 --repeat 1000 --bytes 8MiB --dir "$folder/work" >"$folder/out" 2>"$folder/err" &
interrupt_once '[ -n "$(ls "$folder/work")" ]'
grep -q INTERRUPTED "$folder/out" || fail "the output does not say that it was interrupted"
[ -z "$(ls "$folder/work")" ] || fail "left behind by an interrupt: $(ls "$folder/work")"
