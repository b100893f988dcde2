// SPDX-License-Identifier: MIT
// Text that is no config at all: it is refused with a place, within bounded time and stack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "lib/config/text_check.hpp"
#include "lib/config/texts.hpp"
#include "tests/config/config_testing.hpp"

namespace {

using namespace penstock;
using namespace penstock::testing_config;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

std::string repeated(std::string_view part, std::size_t count) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) out += part;
  return out;
}

TEST(Syntax, AnErrorHasItsPlaceAndARemedy) {
  EXPECT_EQ(refusal("[sinks.app]\ntype = \"write\"\npath = \"a.log\n"),
            "app.toml:3:14: the string is not closed on its line; add the missing quote");
  EXPECT_THAT(refusal("[backend\n"), AllOf(StartsWith("app.toml:1:"), HasSubstr("not TOML")));
  EXPECT_THAT(refusal("memory 3\n"), StartsWith("app.toml:1:"));
  EXPECT_THAT(refusal("\n\nx = \n"), StartsWith("app.toml:3:"));
}

TEST(Syntax, WhatTripsAnAssertionOfTheTomlReaderIsRefusedInItsLine) {
  // toml++ 3.3, parse_key(): the first character of a table header is asserted, not checked.
  for (const char* header : {"[.a]", "[[.a]]", "[ .a ]", "[=]"})
    EXPECT_THAT(refusal(std::string{"# first\n[backend]\ncpu = 1\n"} + header + "\nx = 1\n[loggers.root]\n"), StartsWith("app.toml:4:"))
        << header;
}

TEST(Syntax, WhatIsGivenTwiceIsRefusedAtTheSecondPlace) {
  EXPECT_THAT(refusal("[backend]\ncpu = 1\ncpu = 2\n"),
              AllOf(StartsWith("app.toml:3:"), HasSubstr("given twice"), HasSubstr("remove one")));
  EXPECT_THAT(refusal("[backend]\ncpu = 1\n[backend]\n"), AllOf(StartsWith("app.toml:3:"), HasSubstr("given twice")));
}

TEST(Syntax, NumbersThatFitNowhereAreRefusedWithTheirPlace) {
  for (const char* number : {"9223372036854775808", "-9223372036854775809", "1e999999", "0x1FFFFFFFFFFFFFFFF", "0640"})
    EXPECT_THAT(refusal(std::string{"[backend]\ncpu = "} + number + "\n"), StartsWith("app.toml:2:")) << number;
}

TEST(Syntax, BytesThatAreNotUtf8AreRefusedWithTheirPlace) {
  EXPECT_THAT(refusal("[backend]\nrescue_file = \"\xff\xfe\"\n"), StartsWith("app.toml:2:"));
  EXPECT_THAT(refusal(std::string_view{"\xff\xfe[\0b\0", 6}), StartsWith("app.toml:1:1: "));
  EXPECT_THAT(refusal(std::string_view{"[backend]\ncpu = 1\0\n", 18}), StartsWith("app.toml:2:"));
}

TEST(Nesting, TenThousandLevelsAreRefusedInEveryForm) {
  const std::size_t count = 10'000;
  for (const std::string& text :
       {"[a" + repeated(".a", count) + "]\n", repeated("a.", count) + "a = 1\n",
        "a = " + repeated("[", count) + repeated("]", count) + "\n", "a = " + repeated("{a=", count) + "1" + repeated("}", count) + "\n",
        "a = " + repeated("[", count), repeated("[", count), "a = " + repeated("[\n", count) + repeated("]\n", count)})
    EXPECT_THAT(refusal("\n" + text), StartsWith("app.toml:2:1: more than 250 nested"));
}

TEST(Nesting, DotsInStringsAndCommentsDoNotCount) {
  const std::string dots(1'000, '.');
  for (const std::string& text : {"x = \"" + dots + "\"", "x = '" + dots + "'", "x = \"\"\"\n" + dots + "\n\"\"\"",
                                  "x = '''" + dots + "'''", "# " + dots, "x = \"\\\"" + dots + "\"", "x = [ # " + dots + "\n]"})
    EXPECT_FALSE(detail::check_text(text)) << text;
}

TEST(Text, CharactersBeyondAsciiBelongInQuotesOrComments) {
  EXPECT_THAT(refusal("[backend]\nx\u00e4 = 1\n"), StartsWith("app.toml:2:2: \u00e4 stands outside of quotes"));
  EXPECT_THAT(refusal("[\u00e4]\n"), StartsWith("app.toml:1:2: "));
  EXPECT_THAT(refusal("cpu\u00a0= 1\n"), StartsWith("app.toml:1:4: "));
  EXPECT_THAT(refusal("x = \u201c1\u201d\n"), StartsWith("app.toml:1:5: "));
  EXPECT_THAT(refusal("\"\u00e4\u00e4\" = \xff\n"), StartsWith("app.toml:1:8: the byte 0xff"));
  EXPECT_EQ(refusal("# \u00e4\n[sinks.\"\u00e4\"] # \u00e4\ntype = 'null'\npattern = \"\"\"\u00e4 \\\" {message}\"\"\"\"\n# \u00e4\n"), "");
}

TEST(Nesting, ManyStatementsAreNotDeepOnes) { EXPECT_FALSE(detail::check_text(repeated("[a.b.c]\nx = [\"a\", [1.5]]\n", 1'000))); }

TEST(Hostile, ManyTablesAndFaultsAreTakenInStride) {
  EXPECT_THAT(refusal(repeated("[[sinks]]\n", 50'000)), StartsWith("app.toml:1:"));
  std::string sinks;
  for (int i = 0; i < 5'000; ++i)
    sinks += "[sinks.s" + std::to_string(i) + "]\ntype = \"write\"\npath = \"no/such/folder/" + std::to_string(i / 2) + ".log\"\n";
  EXPECT_THAT(refusal(sinks), AllOf(StartsWith("app.toml:6:8: sinks.s1.path: "), HasSubstr("sinks.s0.path")));
}

TEST(Hostile, NoMutationOfAGoodConfigDoesAnythingButPassOrBeRefusedWithAPlace) {
  const std::string good =
      detail::explain_text(config{}) + "\n[sinks.a]\ntype = \"io_uring\"\npath = \"a.log\"\n[loggers.a.b]\nsinks = [\"a\"]\n";
  static constexpr std::string_view letters = "[]{}\"'=.,#\n\\ \t\r-+_0129abtsu%:<>\x7f\xc3\xff";
  std::mt19937 random{20'240'607};
  const auto below = [&](std::size_t bound) { return std::uniform_int_distribution<std::size_t>{0, bound - 1}(random); };
  for (int round = 0; round < 3'000; ++round) {
    std::string text = good;
    for (std::size_t change = 0; change <= below(6); ++change) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = letters[below(letters.size())];
          break;
        case 1:
          text.erase(at, below(20));
          break;
        case 2:
          text.insert(at, 1, letters[below(letters.size())]);
          break;
        default:
          text.insert(at, text.substr(below(text.size()), below(40)));
          break;
      }
    }
    const std::string message = refusal(text);
    if (!message.empty()) {
      EXPECT_THAT(message, MatchesRegex("app\\.toml:[0-9]+:[0-9]+: .+")) << text;
    }
  }
}

}  // namespace
