// SPDX-License-Identifier: MIT
// What a reader sees: tables, CSV, JSON, the script of a picture.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "bench/suites/export.hpp"
#include "bench/suites/picture.hpp"
#include "bench/suites/published.hpp"
#include "bench/suites/table.hpp"

namespace penstock::bench {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

figures figure(const std::string& row, const std::string& size, double median) {
  return {
      .row = row,
      .size = size,
      .clock = clock_kind::close,
      .unit = "ms",
      .values = {.median = median, .min = median * 0.9, .max = median * 1.1, .low = median * 0.95, .high = median * 1.05, .repeats = 7}};
}

suite_result result_of(std::vector<figures> rows) {
  suite_result result;
  result.what = {.name = "test", .title = "a test", .unit = "ms"};
  result.what.columns.push_back({.label = "1K"});
  result.what.columns.push_back({.label = "2K"});
  result.rows = std::move(rows);
  return result;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(Table, AKoreanSyllableIsTwoColumnsWide) {
  EXPECT_EQ(display_width("재사용"), 6U);
  EXPECT_EQ(display_width("Byte"), 4U);
  EXPECT_EQ(padded("재", 4), "재  ");
}

TEST(Table, ColumnsLineUpBehindKoreanNames) {
  const std::vector<std::string> lines = lines_of(aligned({{"재사용", "1"}, {"abcdef", "2"}}));
  EXPECT_EQ(display_width(lines[0]), display_width(lines[1]));
}

TEST(Table, ARowThatHasNoFigureForASizeShowsADash) {
  const std::string text = tables_text(result_of({figure("a", "1K", 1), figure("a", "2K", 2), figure("b", "2K", 3)}));
  EXPECT_THAT(lines_of(text), Contains(::testing::MatchesRegex(" *b +- +3.00 \\(2.70-3.30\\)")));
}

TEST(Table, AMedianThatCannotBeTrustedHasATildeAndARemark) {
  figures loose = figure("a", "1K", 1);
  loose.values.high = 2;
  const suite_result result = result_of({loose});
  EXPECT_THAT(tables_text(result), HasSubstr("~1.00"));
  EXPECT_THAT(remarks(result), Contains(HasSubstr("1 of 1 medians cannot be trusted")));
}

TEST(Table, AMedianThatCanBeTrustedHasNone) {
  const suite_result result = result_of({figure("a", "1K", 1)});
  EXPECT_THAT(tables_text(result), Not(HasSubstr("~")));
  EXPECT_THAT(remarks(result), Not(Contains(HasSubstr("cannot be trusted"))));
}

TEST(Table, PublishedFiguresStandUnderTheirRow) {
  figures post = figure("a", "1K", 31);
  post.published = "winxp";
  const std::vector<std::string> lines = lines_of(tables_text(result_of({figure("a", "1K", 1), figure("b", "1K", 2), post})));
  const auto row = std::find_if(lines.begin(), lines.end(), [](const std::string& line) { return line.rfind("  a ", 0) == 0; });
  ASSERT_NE(row, lines.end());
  EXPECT_THAT(*(row + 1), HasSubstr("published, winxp"));
  EXPECT_THAT(*(row + 1), HasSubstr("31.0"));
}

TEST(Csv, HasTheTenColumnsAndEndsEachLineInLf) {
  const std::string text = csv_text({result_of({figure("a, b", "1K", 1.5)})});
  EXPECT_EQ(text,
            "suite,case,size,clock,unit,median,min,max,repeats,source\n"
            "test,\"a, b\",1K,close,ms,1.5,1.35,1.65,7,measured\n");
}

TEST(Csv, PublishedRowsSayThatTheyAre) {
  figures post = figure("a", "1K", 31);
  post.published = "winxp";
  EXPECT_THAT(csv_text({result_of({post})}), HasSubstr(",published\n"));
}

TEST(Csv, NoNumberHasAnExponent) {
  EXPECT_THAT(csv_text({result_of({figure("a", "1K", 4.5e-5), figure("b", "1K", 2.5e9)})}), Not(::testing::ContainsRegex("[0-9]e[-+]")));
}

TEST(Csv, WhatIsWrittenIsWhatIsReadBack) {
  const std::string text = csv_text({result_of({figure("100MB (Mapped, \"x\")", "100MB", 3)})});
  EXPECT_EQ(csv_fields(lines_of(text)[1])[1], "100MB (Mapped, \"x\")");
}

TEST(Json, StringsAreEscaped) { EXPECT_EQ(json_string("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\""); }

TEST(Picture, EachSizeHasAMarkOfItsOwnAndErrorBars) {
  const std::string script = picture_script(result_of({figure("a", "1K", 1), figure("a", "2K", 2)}), "out.svg");
  EXPECT_THAT(script, HasSubstr("pointtype 4 "));
  EXPECT_THAT(script, HasSubstr("pointtype 7 "));
  EXPECT_THAT(script, HasSubstr("xerrorbars"));
  EXPECT_THAT(script, HasSubstr("ms, close clock"));
}

TEST(Picture, AQuoteInANameDoesNotEndItsString) {
  EXPECT_THAT(picture_script(result_of({figure("it's", "1K", 1)}), "out.svg"), HasSubstr("'it''s'"));
}

}  // namespace
}  // namespace penstock::bench
