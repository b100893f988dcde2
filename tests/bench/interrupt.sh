#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: interrupt.sh TOOL. Interrupts a running suite; it must say what is done, return 1 and leave its folder empty. Then a
# replay that waits for a full disk.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
. "$(dirname "$0")/interrupt_once.sh"
mkdir "$folder/work"
"$1" bench japm --dir "$folder/work" --repeat 1000 --csv "$folder/out.csv" >"$folder/out" 2>"$folder/err" &
# The folder of the run tells that it has begun.
interrupt_once '[ -n "$(ls "$folder/work")" ]'
grep -q INTERRUPTED "$folder/out" || fail "the output does not say that it was interrupted"
[ -z "$(ls "$folder/work")" ] || fail "left behind: $(ls "$folder/work")"
head -n 1 "$folder/out.csv" | grep -q '^suite,case,size,clock,unit,median,min,max,repeats,source$' || fail "no CSV"

seq 100000 >"$folder/lines.log"
# In the foreground: else timeout sends a signal twice, and the second one kills.
timeout --foreground -s KILL 600 "$1" replay --out /dev/full "$folder/lines.log" >"$folder/out" 2>"$folder/err" &
interrupt_once 'grep -q "No space left" "$folder/err"'
grep -q interrupted "$folder/err" || fail "replay does not say that it was interrupted"
