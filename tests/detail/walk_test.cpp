// SPDX-License-Identifier: MIT
#include "detail/laid_out.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "tests/support/sanitizers.hpp"

namespace penstock::detail {
namespace {

// A sanitizer looks at each step, not at values: fewer of them take the same steps.
constexpr std::size_t fewer = penstock::testing::sanitized ? 10 : 1;

constexpr const char* refused = "(refused)";

template <class... A>
std::string by_fmt(std::string_view format, const A&... arguments) {
  try {
    return fmt::format(fmt::runtime(format), arguments...);
  } catch (const fmt::format_error&) {
    return refused;
  }
}

template <class... A>
std::string by_walk(std::string_view format, const A&... arguments) {
  using statement = runtime_statement<A...>;
  const auto place = testing::encoded<statement>(arguments...);
  testing::tight_room room(0);
  try {
    testing::call(&statement::lay_out, place.get(), source_facts{format, "", "", 0}, room.out());
    return std::string(room.text());
  } catch (const fmt::format_error&) {
    return refused;
  }
}

TEST(Walk, AnyTextIsLaidOutOrRefusedAsByFmt) {
  static constexpr std::string_view alphabet[] = {"{", "}", "{}", "{}", "{:", "{0", "{1:", "{3", "{{", "}}", ":",  "<",  ">",  "^",
                                                  "*", "0", "1",  "12", ".",  ".3", "d",   "f",  "x",  "s",  "p",  "?",  "c",  "b",
                                                  "g", "#", "+",  " ",  "ab", "e",  "-",   "L}", "p}", "s}", "d}", "f}", "x}", "8}"};
  std::mt19937_64 random(11);
  const std::string string = "string";
  const char* const c_string = "c string";
  std::size_t good_count = 0;
  for (std::size_t i = 0; i != 100'000 / fewer; ++i) {
    std::string format;
    for (std::uint64_t parts = random() % 9; parts != 0; --parts) format += alphabet[random() % std::size(alphabet)];
    const std::string wanted = by_fmt(format, 42, 2.5, string, c_string);
    good_count += wanted == refused ? 0U : 1U;
    ASSERT_EQ(by_walk(format, 42, 2.5, string, c_string), wanted) << format;
  }
  EXPECT_GT(good_count, 15'000U / fewer);
}

TEST(Walk, ValidFormatsOfRandomValuesAreLaidOutAsByFmt) {
  static constexpr std::string_view integers[] = {"{}", "{:d}", "{:x}", "{:#b}", "{:>12}", "{:<5}", "{:^9}", "{:08}", "{:+}", "{:*>25o}"};
  static constexpr std::string_view reals[] = {"{}", "{:.2f}", "{:f}", "{:e}", "{:10.3f}", "{:g}", "{:.0f}", "{:a}", "{:+.6f}", "{:.12g}"};
  static constexpr std::string_view strings[] = {"{}", "{:s}", "{:<10}", "{:>10}", "{:^7}", "{:.3}", "{:_<20.5}", "{:?}"};
  static constexpr std::string_view literals[] = {"", " ", "text ", "{{", "}}", "longer text between two fields, "};
  std::mt19937_64 random(12);
  const auto one_of = [&](const auto& list) { return list[random() % std::size(list)]; };
  for (std::size_t i = 0; i != 30'000 / fewer; ++i) {
    std::string format(one_of(literals));
    format += one_of(integers);
    format += one_of(literals);
    format += one_of(reals);
    format += one_of(literals);
    format += one_of(strings);
    format += one_of(literals);
    format += one_of(strings);
    format += one_of(integers);
    format += one_of(literals);
    const auto number = static_cast<std::int64_t>(random()) >> (random() % 64);
    const double real =
        static_cast<double>(static_cast<std::int64_t>(random() >> (random() % 64))) / static_cast<double>(1U << (random() % 20));
    const std::string text(random() % 40, static_cast<char>('a' + random() % 26));
    const auto small = static_cast<unsigned char>(random());
    ASSERT_EQ(by_walk(format, number, real, text, text.c_str(), small), by_fmt(format, number, real, text, text.c_str(), small)) << format;
  }
}

TEST(Walk, WhatWasLaidOutBeforeAnErrorIsNotTouched) {
  testing::tight_room room(0);
  append(room.out(), "before ");
  using statement = runtime_statement<int>;
  const auto place = testing::encoded<statement>(5);
  EXPECT_THROW(testing::call(&statement::lay_out, place.get(), source_facts{"{} {}", "", "", 0}, room.out()), fmt::format_error);
  EXPECT_EQ(room.text(), "before ");
  testing::call(&statement::lay_out, place.get(), source_facts{"[{}]", "", "", 0}, room.out());
  EXPECT_EQ(room.text(), "before [5]");
}

TEST(Walk, ManyAndNoArgumentsAreLaidOutAsByFmt) {
  EXPECT_EQ(by_walk("none {{}}"), "none {}");
  EXPECT_EQ(by_walk(""), "");
  EXPECT_EQ(by_walk("", 1), "");
  EXPECT_EQ(by_walk("{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}{}", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, "seventeen"),
            "12345678910111213141516seventeen");
  EXPECT_EQ(by_walk("{16:>{0}}", 11, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, "seventeen"), "  seventeen");
}

}  // namespace
}  // namespace penstock::detail
