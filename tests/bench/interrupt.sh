#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: interrupt.sh TOOL. Interrupts a running suite; it must say what is done, return 1 and leave its folder empty. Then a
# replay that waits for a full disk.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/work"
"$1" bench japm --dir "$folder/work" --repeat 1000 --csv "$folder/out.csv" >"$folder/out.txt" 2>"$folder/err.txt" &
tool=$!
# The folder of the run tells that it has begun.
tries=0
until [ -n "$(ls "$folder/work")" ]; do
  tries=$((tries + 1))
  [ $tries -le 20000 ] && kill -0 $tool 2>/dev/null || { echo "the run did not begin"; cat "$folder/err.txt"; exit 1; }
  sleep 0.01
done
kill -TERM $tool
wait $tool
status=$?
[ $status -eq 1 ] || { echo "exit status $status instead of 1"; cat "$folder/err.txt"; exit 1; }
grep -q INTERRUPTED "$folder/out.txt" || { echo "the output does not say that it was interrupted"; exit 1; }
[ -z "$(ls "$folder/work")" ] || { echo "left behind:"; ls "$folder/work"; exit 1; }
head -n 1 "$folder/out.csv" | grep -q '^suite,case,size,clock,unit,median,min,max,repeats,source$' || { echo "no CSV"; exit 1; }

seq 100000 >"$folder/lines.log"
# In the foreground: else timeout sends a signal twice, and the second one kills.
timeout --foreground -s KILL 600 "$1" replay --out /dev/full "$folder/lines.log" >"$folder/out.txt" 2>"$folder/err.txt" &
tool=$!
tries=0
until grep -q "No space left" "$folder/err.txt"; do
  tries=$((tries + 1))
  [ $tries -le 20000 ] && kill -0 $tool 2>/dev/null || { echo "the replay did not meet the full disk"; cat "$folder/err.txt"; exit 1; }
  sleep 0.01
done
kill -TERM $tool
wait $tool
status=$?
[ $status -eq 1 ] || { echo "replay: exit status $status instead of 1"; cat "$folder/err.txt"; exit 1; }
grep -q interrupted "$folder/err.txt" || { echo "replay does not say that it was interrupted"; exit 1; }
