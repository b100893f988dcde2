// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/suites/html.hpp"
#include "bench/suites/meaning.hpp"

namespace penstock::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

suite_result copy_result() {
  suite_result result;
  result.what = {.name = "copy", .title = "one file <copied>", .unit = "ms"};
  result.what.columns.push_back({.label = "232 Mbytes"});
  const auto add = [&](const char* row, double median) {
    result.rows.push_back({.row = row,
                           .size = "232 Mbytes",
                           .clock = clock_kind::close,
                           .unit = "ms",
                           .values = {.median = median, .min = median, .max = median, .low = median, .high = median, .repeats = 7}});
  };
  add("io", 600);
  add("scatterGather", 150);
  add("transferTo", 60);
  add("read/write 64 KiB", 90);
  return result;
}

TEST(Meaning, IsTwoSentencesMadeFromTheFigures) {
  const std::vector<std::string> sentences = meaning_of(copy_result());
  ASSERT_THAT(sentences, SizeIs(2));
  EXPECT_THAT(sentences[0], HasSubstr("\"transferTo\" with 60.0 ms"));
  EXPECT_THAT(sentences[0], HasSubstr("1.5 times as long as"));
  EXPECT_THAT(sentences[1], HasSubstr("4.0 times as long as"));
}

TEST(Meaning, ChangesWithTheFigures) {
  suite_result result = copy_result();
  result.rows[2].values.median = 95;
  EXPECT_THAT(meaning_of(result)[0], HasSubstr("\"read/write 64 KiB\" with 90.0 ms"));
}

TEST(Meaning, SaysWhenARowThatItNeedsIsMissing) {
  suite_result result = copy_result();
  result.rows.erase(result.rows.begin());
  EXPECT_THAT(meaning_of(result)[1], HasSubstr("missing"));
}

TEST(Meaning, OfASweepNamesTheFastestSinkThatKeepsTheWholeLog) {
  std::vector<sweep_row> rows;
  const auto add = [&](const char* type, page_cache_policy cache, double mb_per_s, double cpu_s_per_gb) {
    rows.push_back({.choice = {type, cache, std::size_t{64} << 10}, .passes = 1});
    rows.back().mb_per_s = {mb_per_s};
    rows.back().cpu_s_per_gb = {cpu_s_per_gb};
    rows.back().hand_over_us = {12};
  };
  add("mmap_ring", page_cache_policy::keep, 9000, 0.1);
  add("pwrite", page_cache_policy::keep, 5000, 0.2);
  add("io_uring", page_cache_policy::direct, 2000, 0.01);
  const std::vector<std::string> sentences = meaning_of(rows);
  EXPECT_THAT(sentences[0], HasSubstr("pwrite/keep/64 KiB is the fastest with 5000 MB/s"));
  EXPECT_THAT(sentences[1], HasSubstr("io_uring/direct/64 KiB"));
}

TEST(Html, ThePageNeedsNoOtherFile) {
  report all;
  all.suites.push_back(copy_result());
  all.pictures.push_back("<?xml version=\"1.0\"?>\n<svg width=\"1\"></svg>");
  const std::string page = html_page(all);
  EXPECT_THAT(page, HasSubstr("<svg width=\"1\"></svg>"));
  EXPECT_THAT(page, Not(HasSubstr("<?xml")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("href=\"http")));
}

TEST(Html, TextIsEscaped) {
  report all;
  all.suites.push_back(copy_result());
  const std::string page = html_page(all);
  EXPECT_THAT(page, HasSubstr("one file &lt;copied&gt;"));
  EXPECT_EQ(html_escaped("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
}

TEST(Html, AnInterruptedReportSaysSo) {
  report all;
  all.interrupted = true;
  EXPECT_THAT(html_page(all), HasSubstr("INTERRUPTED"));
}

}  // namespace
}  // namespace penstock::bench
