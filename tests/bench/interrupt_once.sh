# SPDX-License-Identifier: MIT
# For tests that interrupt the tool: sourced by them, with its standard error in $folder/err.
fail() { echo "$*"; exit 1; }

# interrupt_once CONDITION: SIGTERM to the program that was put into the background last, once the condition holds; it must end with 1.
interrupt_once() {
  tool=$!
  tries=0
  until eval "$1"; do
    tries=$((tries + 1))
    [ $tries -le 20000 ] && kill -0 $tool 2>/dev/null || fail "in vain waited for: $1: $(cat "$folder/err")"
    sleep 0.01
  done
  kill -TERM $tool
  wait $tool
  status=$?
  [ $status -eq 1 ] || fail "interrupted: exit status $status instead of 1: $(cat "$folder/err")"
}
