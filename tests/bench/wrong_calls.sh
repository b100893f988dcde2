#!/bin/sh
# SPDX-License-Identifier: MIT
# usage: wrong_calls.sh TOOL. A wrong call gets status 2, one message on standard error, and nothing on standard output.
set -u
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
refused() {
  says=$1
  shift
  "$@" >"$folder/out" 2>"$folder/err"
  status=$?
  [ $status -eq 2 ] || { echo "$*: status $status instead of 2"; exit 1; }
  grep -q -- "$says" "$folder/err" || { echo "$*: does not say '$says':"; cat "$folder/err"; exit 1; }
  [ ! -s "$folder/out" ] || { echo "$*: standard output is not empty"; exit 1; }
}
refused "there is no command 'benhc'" "$1" benhc
refused "new,truncate,in-place" "$1" bench japm --file sideways
refused "no-such-folder" "$1" bench japm --dir "$folder/no-such-folder"
refused "repeat" "$1" bench japm --repeat 0
refused "--dir is required" "$1" tune
refused "report" "$1" bench all
refused "the file cannot be read" "$1" config --check ""
refused "the file cannot be read" "$1" config --explain ""
refused "there is no command 'jmap'" "$1" bench jmap
refused "there is no command 'list'" "$1" ring list some.ring
refused "1 MiB" "$1" tune --dir "$folder" --bytes 3
refused "--check,--defaults,--explain,--docs\] is required" "$1" config
for suite in japm copy buffer mapped sequential "logger --records 1"; do
  for option in csv json svg; do
    refused "$folder/none/x cannot be written: No such file or directory; .*or make its folder" \
      "$1" bench $suite --dir "$folder" --$option "$folder/none/x"
  done
done
refused "$folder cannot be written: Is a directory" "$1" bench japm --dir "$folder" --csv "$folder"
[ -z "$(ls "$folder" | grep -vE '^(out|err)$')" ] || { echo "left behind:"; ls "$folder"; exit 1; }
# Built without Google Benchmark, the tool says that first.
case $("$1" bench sinks --help 2>&1) in
  *"not in this build"*) refused "Google Benchmark" "$1" bench sinks --dir "$folder" --bytes 4095 ;;
  *)
    refused "1 MiB" "$1" bench sinks --dir "$folder" --bytes 4095
    refused "nothing was measured: .*nothing; rows are named like" "$1" bench sinks --smoke --dir "$folder" --benchmark_filter=nothing
    refused "nothing was measured: .*(" "$1" bench sinks --smoke --dir "$folder" "--benchmark_filter=("
    for option in csv json; do
      refused "$folder/none/x cannot be written" "$1" bench sinks --dir "$folder" --$option "$folder/none/x"
      refused "$folder/none/x cannot be written" "$1" bench sinks --limits --dir "$folder" --$option "$folder/none/x"
    done
    ;;
esac
if [ -w /dev/full ]; then
  "$1" --help >/dev/full 2>"$folder/err"
  [ $? -eq 1 ] || { echo "--help onto a full disk does not fail"; exit 1; }
fi
