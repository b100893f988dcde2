// SPDX-License-Identifier: MIT
#include "lib/config/units.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <initializer_list>
#include <limits>
#include <string>

namespace {

using namespace penstock::detail;
using namespace std::chrono_literals;
using testing::HasSubstr;

std::uint64_t size_of(std::string_view text) {
  const auto result = parse_size(text);
  EXPECT_EQ(result.problem, "") << text;
  return result.value;
}

std::chrono::nanoseconds duration_of(std::string_view text) {
  const auto result = parse_duration(text);
  EXPECT_EQ(result.problem, "") << text;
  return result.value;
}

TEST(Size, IsAWholeNumberAndAUnit) {
  EXPECT_EQ(size_of("0 B"), 0U);
  EXPECT_EQ(size_of("4096 B"), 4096U);
  EXPECT_EQ(size_of("256 KiB"), 256U << 10);
  EXPECT_EQ(size_of("64MiB"), 64U << 20);
  EXPECT_EQ(size_of("1   GiB"), 1U << 30);
  EXPECT_EQ(size_of("3 TiB"), std::uint64_t{3} << 40);
}

TEST(Size, WithoutAUnitIsRefusedAndTheUnitOfAPlainNumberIsNamed) { EXPECT_THAT(parse_size("4096").problem, HasSubstr("try \"4096 B\"")); }

TEST(Size, InAUnitFromHabitIsRefusedWithTheUnitThatWasMeant) {
  for (const std::string_view text : {"64 KB", "64 kB", "64 kb", "64 K", "64k", "64 kib"})
    EXPECT_THAT(parse_size(text).problem, HasSubstr("try \"64 KiB\"")) << text;
  EXPECT_THAT(parse_size("1 GB").problem, HasSubstr("try \"1 GiB\""));
  EXPECT_THAT(parse_size("7 bytes").problem, HasSubstr("try \"7 B\""));
}

TEST(Size, ThatIsNoneIsRefusedWithAnExample) {
  for (const std::string_view text :
       {"", " ", "KiB", "-1 KiB", "+1 KiB", "1.5 GiB", "1e3 B", "0x10 B", " 4 KiB", "4 KiB ", "4 KiB B", "4\tKiB", "four"})
    EXPECT_THAT(parse_size(text).problem, HasSubstr("256 KiB")) << text;
}

TEST(Size, BeyondTheLargestNumberIsRefusedAndDoesNotWrapAround) {
  EXPECT_EQ(size_of("9223372036854775807 B"), static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  for (const std::string_view text : {"9223372036854775808 B", "18446744073709551616 B", "16777216 TiB", "17179869184 GiB",
                                      "99999999999 GiB", "99999999999999999999999999 B"})
    EXPECT_THAT(parse_size(text).problem, HasSubstr("too large")) << text;
}

TEST(Duration, IsAWholeNumberAndAUnit) {
  EXPECT_EQ(duration_of("0 ms"), 0ns);
  EXPECT_EQ(duration_of("7 ns"), 7ns);
  EXPECT_EQ(duration_of("5 us"), 5us);
  EXPECT_EQ(duration_of("20ms"), 20ms);
  EXPECT_EQ(duration_of("3 s"), 3s);
  EXPECT_EQ(duration_of("2 min"), 2min);
  EXPECT_EQ(duration_of("12 h"), 12h);
  EXPECT_EQ(duration_of("1 d"), 24h);
}

TEST(Duration, InAUnitFromHabitIsRefusedWithTheUnitThatWasMeant) {
  EXPECT_THAT(parse_duration("20").problem, HasSubstr("try \"20 ms\""));
  EXPECT_THAT(parse_duration("20 sec").problem, HasSubstr("try \"20 s\""));
  EXPECT_THAT(parse_duration("20 MS").problem, HasSubstr("try \"20 ms\""));
  EXPECT_THAT(parse_duration("20 \u00b5s").problem, HasSubstr("try \"20 us\""));
  EXPECT_THAT(parse_duration("5 m").problem, HasSubstr("try \"5 min\""));
  EXPECT_THAT(parse_duration("2 days").problem, HasSubstr("try \"2 d\""));
}

TEST(Duration, ThatIsNoneOrTooLongIsRefused) {
  for (const std::string_view text : {"", "-1 ms", "20 parsecs", "1.5 s", "ms"})
    EXPECT_THAT(parse_duration(text).problem, HasSubstr("20 ms")) << text;
  EXPECT_THAT(parse_duration("106752 d").problem, HasSubstr("too large"));
  EXPECT_EQ(duration_of("106751 d"), 106751 * 24h);
}

TEST(UnitText, ReadsBackToTheSameValue) {
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{5000}, std::uint64_t{4096}, std::uint64_t{3} << 29, std::uint64_t{1} << 50})
    EXPECT_EQ(size_of(size_text(bytes)), bytes);
  for (const std::chrono::nanoseconds value : std::initializer_list<std::chrono::nanoseconds>{0ns, 1ns, 1500us, 20ms, 90s, 48h})
    EXPECT_EQ(duration_of(duration_text(value)), value);
}

TEST(UnitText, UsesTheLargestUnitThatDividesTheValue) {
  EXPECT_EQ(size_text(5000), "5000 B");
  EXPECT_EQ(size_text(256 << 10), "256 KiB");
  EXPECT_EQ(duration_text(90s), "90 s");
  EXPECT_EQ(duration_text(120s), "2 min");
  EXPECT_EQ(duration_text(-5ms), "-5 ms");
}

TEST(EditDistance, CountsInsertedRemovedReplacedAndExchangedLetters) {
  EXPECT_EQ(edit_distance("batch_size", "batch_size"), 0U);
  EXPECT_EQ(edit_distance("batch_sise", "batch_size"), 1U);
  EXPECT_EQ(edit_distance("iouring", "io_uring"), 1U);
  EXPECT_EQ(edit_distance("warnign", "warning"), 1U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
}

TEST(Nearest, FindsWhatWasMeantAndNothingWhereNothingIsNear) {
  static constexpr std::array<std::string_view, 4> words{"info", "warning", "error", "critical"};
  EXPECT_EQ(nearest("warnign", words), "warning");
  EXPECT_EQ(nearest("warn", words), "warning");
  EXPECT_EQ(nearest("eror", words), "error");
  EXPECT_EQ(nearest("xyz", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest(std::string(100'000, 'w'), words), "");
}

TEST(InQuotes, EscapesWhatTomlWouldReadDifferently) {
  EXPECT_EQ(in_quotes("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(in_quotes(std::string_view{"\n\t\r\0\x1b\x7f", 6}), "\"\\n\\t\\r\\u0000\\u001B\\u007F\"");
  EXPECT_EQ(in_quotes("\u00e4"), "\"\u00e4\"");
}

}  // namespace
