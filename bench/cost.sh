#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What log statements cost those who do not run them: time to compile, bytes of code, weight of the header. Generated files with statements
# of one to ten arguments, nearly all of them different (the mixture of Quill's own compile-time benchmark), in functions of ten, a hundred
# to a file. `./dev bench cost` explains itself with --help.
set -euo pipefail
top=$(dirname "$(dirname "$(readlink -f "$0")")")

usage() {
  cat <<'HELP'
usage: ./dev bench cost [OPTION...]

  --sites N         statements in all, in files of 100 (default: 2000)
  --repeat N        passes, in turn; medians are shown (default: 3)
  --compiler CXX    default: g++
  --flags "..."     default: -O2
  --quill DIR       Quill's source folder, to compare with
  --keep DIR        leaves the generated files there

spdlog is compared with if its headers are installed (libspdlog-dev). Times are processor seconds of the compiler. Bytes are those of the
statements alone: the objects of all files, joined by `ld -r` so that what several files share counts once, less a file without statements.
HELP
}

fail() { printf 'bench cost: %s\n' "$*" >&2; exit "${status:-1}"; }
wrong_call() { status=2 fail "$*; ./dev bench cost --help tells what there is"; }

sites=2000 repeat=3 compiler=g++ flags=-O2 quill='' keep=''
while (($#)); do
  case $1 in
    -h | --help) usage && exit 0 ;;
    --sites | --repeat | --compiler | --flags | --quill | --keep)
      (($# > 1)) || wrong_call "$1 wants a value"
      declare "${1#--}=$2"
      shift 2
      ;;
    *) wrong_call "there is no option $1" ;;
  esac
done
[[ $sites =~ ^[1-9][0-9]*00$ ]] || wrong_call "--sites $sites is not a multiple of 100"
[[ $repeat =~ ^[1-9][0-9]*$ ]] || wrong_call "--repeat $repeat is not a number of passes"
command -v "$compiler" >/dev/null || fail "there is no compiler $compiler"
[[ -z $quill || -e $quill/include/quill/Logger.h ]] || fail "there is no include/quill/Logger.h in $quill"

folder=$keep
if [[ -n $folder ]]; then
  mkdir -p "$folder"
else
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
fi

loggers=(penstock penstock-functions)
options_of() {
  case $1 in
    penstock*) echo "-I$top/include" ;;
    quill) echo "-I$quill/include" ;;
    spdlog) echo "-DSPDLOG_COMPILED_LIB -DSPDLOG_SHARED_LIB -DSPDLOG_FMT_EXTERNAL" ;;
  esac
}
compile() { # LOGGER FILE OBJECT
  # shellcheck disable=SC2046,SC2086
  "$compiler" -std=c++20 -w $flags $(options_of "$1") -c "$2" -o "$3"
}
if echo '#include <spdlog/spdlog.h>' | "$compiler" -std=c++20 -fsyntax-only -xc++ - 2>/dev/null; then loggers+=(spdlog); fi
[[ -z $quill ]] || loggers+=(quill)

# generate LOGGER SITES: LOGGER/0.cpp, 1.cpp ..., and LOGGER/empty.cpp. The same statements for each logger, from a fixed seed.
generate() {
  local include parameter begin
  case $1 in
    penstock) include='<penstock/log.hpp>' parameter='' begin='PENSTOCK_INFO(' ;;
    penstock-functions) include='<penstock/log.hpp>' parameter='' begin='penstock::info(' ;;
    spdlog) include='<spdlog/spdlog.h>' parameter='spdlog::logger* logger' begin='SPDLOG_LOGGER_INFO(logger, ' ;;
    quill) include='<quill/LogMacros.h>' parameter='quill::Logger* logger' begin='LOG_INFO(logger, ' ;;
  esac
  mkdir -p "$folder/$1"
  local head="#include $include"
  [[ $1 != quill ]] || head+=$'\n#include <quill/Logger.h>'
  printf '%s\n' "$head" >"$folder/$1/empty.cpp"
  awk -v sites="$2" -v head="$head" -v parameter="$parameter" -v begin="$begin" -v folder="$folder/$1" '
    # Numerical Recipes, "An Even Quicker Generator"; the upper bits are the good ones.
    function below(n) { seed = (seed * 1664525 + 1013904223) % 4294967296; return int(seed / 65536) % n }
    BEGIN {
      types = split("1|2|3.0|4.0f|5L|6LL|7UL|8ULL|true|false|\"example1\"|\"example2\"|\"example3\"|std::string(\"str1\")|" \
                    "std::string(\"str2\")|std::string_view(\"view1\")|std::string_view(\"view2\")|static_cast<short>(9)|" \
                    "static_cast<unsigned short>(10)", type, "|")
      words = split("quick brown fox jumps over lazy dog logging test example", word, " ")
      seed = 1337
      for (site = 0; site < sites; ++site) {
        if (site % 100 == 0) {
          file = folder "/" site / 100 ".cpp"
          print head "\n#include <string>\n#include <string_view>" >file
        }
        if (site % 10 == 0) print "void function_" site "(" parameter ") {" >file
        text = ""; arguments = ""
        for (n = 3 + below(2); n; --n) text = text word[1 + below(words)] " "
        for (n = 1 + below(10); n; --n) { text = text "{} "; arguments = arguments ", " type[1 + below(types)] }
        print "  " begin "\"" text site "\"" arguments ");" >file
        if (site % 10 == 9) print "}" >file
      }
    }'
}

# Section bytes of an object by kind: code, constants, data.
bytes_of() {
  size -A "$1" | awk '
    $1 ~ /^\.text/ { code += $2 }
    $1 ~ /^\.(rodata|eh_frame|gcc_except_table)/ { constants += $2 }
    $1 ~ /^\.(data|bss|init_array)/ { data += $2 }
    END { print code + 0, constants + 0, data + 0 }'
}
median() { sort -g | awk '{ value[NR] = $1 } END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'; }
seconds() { # COMMAND...: processor seconds
  local TIMEFORMAT='%U %S'
  { time "$@" >/dev/null; } 2>&1 | awk '{ print $1 + $2 }'
}

files=$((sites / 100))
compile_files() {
  local file
  for ((file = 0; file < files; ++file)); do compile "$1" "$folder/$1/$file.cpp" "$folder/$1/$file.o"; done
}
for logger in "${loggers[@]}"; do
  generate "$logger" "$sites"
  compile "$logger" "$folder/$logger/empty.cpp" "$folder/$logger/empty.o" # the page cache is warm from here on
done
for ((pass = 0; pass < repeat; ++pass)); do
  for logger in "${loggers[@]}"; do
    seconds compile "$logger" "$folder/$logger/empty.cpp" "$folder/$logger/empty.o" >>"$folder/$logger/empty.seconds"
    seconds compile_files "$logger" >>"$folder/$logger/files.seconds"
    printf 'pass %d of %d: %s\n' $((pass + 1)) "$repeat" "$logger" >&2
  done
done

printf '%s %s, %d statements in %d files, %d passes\n' "$("$compiler" --version | head -n 1)" "$flags" "$sites" "$files" "$repeat"
printf '%-20s %9s %9s %9s %12s %10s %10s %10s %10s\n' logger 'lines' 'empty s' 'file s' 'ms/site' 'code B' 'const B' 'data B' 'all B/site'
for logger in "${loggers[@]}"; do
  # shellcheck disable=SC2046
  lines=$("$compiler" -std=c++20 $(options_of "$logger") -E -P "$folder/$logger/empty.cpp" | wc -l)
  empty=$(median <"$folder/$logger/empty.seconds")
  all=$(median <"$folder/$logger/files.seconds")
  ld -r -o "$folder/$logger/all.o" "$folder/$logger"/[0-9]*.o
  read -r code constants data < <(bytes_of "$folder/$logger/all.o")
  read -r code_empty constants_empty data_empty < <(bytes_of "$folder/$logger/empty.o")
  awk -v logger="$logger" -v lines="$lines" -v empty="$empty" -v all="$all" -v files="$files" -v sites="$sites" \
    -v code=$((code - code_empty)) -v constants=$((constants - constants_empty)) -v data=$((data - data_empty)) 'BEGIN {
      printf "%-20s %9d %9.2f %9.2f %12.1f %10.0f %10.0f %10.0f %10.0f\n", logger, lines, empty, all / files,
        (all - files * empty) / sites * 1000, code / sites, constants / sites, data / sites, (code + constants + data) / sites }'
done
