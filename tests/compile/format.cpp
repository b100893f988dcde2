// SPDX-License-Identifier: MIT
// Format texts that are checked while compiling. Without a switch this compiles; each switch breaks one statement.
#include <penstock/log.hpp>

#include <string>

namespace {

// Each line below: the switch, and what the compiler must say.
// BREAK_1: argument not found
// BREAK_2: argument not found
// BREAK_3: named argument
// BREAK_4: invalid type specifier
// BREAK_5: invalid type specifier
// BREAK_6: on_error
// BREAK_7: argument not found
// BREAK_8: width/precision is not integer
// BREAK_9: cannot switch from manual to automatic argument indexing
// BREAK_10: invalid format string

#if defined(BREAK_1)
#define ONE "{} {}"
#else
#define ONE "{}"
#endif
#if defined(BREAK_2)
#define TWO "{:>{}} {}"
#else
#define TWO "{:>{}}"
#endif
#if defined(BREAK_3)
#define THREE "{name}"
#else
#define THREE "{}"
#endif
#if defined(BREAK_4)
#define FOUR "{:d}"
#else
#define FOUR "{:s}"
#endif
#if defined(BREAK_5)
#define FIVE "{:s}"
#else
#define FIVE "{:x}"
#endif
#if defined(BREAK_6)
#define SIX "{} }"
#else
#define SIX "{} }}"
#endif
#if defined(BREAK_7)
#define SEVEN "{2}"
#else
#define SEVEN "{1}"
#endif
#if defined(BREAK_8)
#define EIGHT std::string("10")
#else
#define EIGHT 10
#endif
#if defined(BREAK_9)
#define NINE "{0} {}"
#else
#define NINE "{} {}"
#endif
#if defined(BREAK_10)
#define TEN "{"
#else
#define TEN "{{"
#endif

}  // namespace

void by_macro(int number, double real, const std::string& text) {
  PENSTOCK_INFO(ONE, number);
  PENSTOCK_WARNING(TWO, number, 8);
  PENSTOCK_ERROR(THREE, number);
  PENSTOCK_DEBUG(FOUR, text);
  PENSTOCK_TRACE(FIVE, number);
  PENSTOCK_CRITICAL(SIX, real);
  PENSTOCK_LOG_INFO(penstock::get("a.b"), SEVEN, number, real);
  PENSTOCK_INFO("{:>{}}", text, EIGHT);
  PENSTOCK_INFO(NINE, number, real);
  PENSTOCK_INFO(TEN);
}

#if !defined(MACROS_ONLY)
void by_function(int number, double real, const std::string& text) {
  penstock::info(ONE, number);
  penstock::warning(TWO, number, 8);
  penstock::error(THREE, number);
  penstock::debug(FOUR, text);
  penstock::trace(FIVE, number);
  penstock::critical(SIX, real);
  penstock::get("a.b").info(SEVEN, number, real);
  penstock::info("{:>{}}", text, EIGHT);
  penstock::info(NINE, number, real);
  penstock::info(TEN);
}
#endif
