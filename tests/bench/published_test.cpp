// SPDX-License-Identifier: MIT
#include "bench/suites/published.hpp"

#include <gtest/gtest.h>

#include <set>

#include "bench/suites/suites.hpp"

namespace penstock::bench {
namespace {

class Published : public ::testing::TestWithParam<std::size_t> {
 protected:
  suite made() const { return suite_entries()[GetParam()].make({}); }
};

TEST_P(Published, EveryCaseOfThePostIsARowByTheSameName) {
  const suite what = made();
  std::set<std::string> posts;
  for (const figures& row : published_figures(what)) posts.insert(row.row);
  ASSERT_FALSE(posts.empty());
  for (const column& size : what.columns) {
    std::set<std::string> rows;
    for (const cell& one : size.cells)
      if (one.kind == row_kind::post) rows.insert(one.row);
    EXPECT_EQ(rows, posts) << what.name << " " << size.label;
  }
}

TEST_P(Published, TheColumnsAreThoseOfThePost) {
  const suite what = made();
  std::set<std::string> posts;
  for (const figures& row : published_figures(what)) posts.insert(row.size);
  std::set<std::string> columns;
  for (const column& size : what.columns) columns.insert(size.label);
  EXPECT_EQ(columns, posts);
}

TEST_P(Published, NoRowStandsTwiceInAColumn) {
  for (const column& size : made().columns) {
    std::set<std::string> rows;
    for (const cell& one : size.cells) EXPECT_TRUE(rows.insert(one.row).second) << one.row << " " << size.label;
  }
}

TEST_P(Published, EachOfTheFiveSinksHasThreeBatchSizes) {
  for (const column& size : made().columns) {
    for (const char* type : {"write", "pwrite", "stdio", "io_uring", "mmap_ring"}) {
      for (const char* batch : {"64 KiB", "256 KiB", "1 MiB"}) {
        const std::string name = std::string("sink ") + type + " " + batch;
        EXPECT_TRUE(std::any_of(size.cells.begin(), size.cells.end(), [&](const cell& one) { return one.row.rfind(name, 0) == 0; }))
            << name;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Suites, Published, ::testing::Range<std::size_t>(0, 5),
                         [](const auto& which) { return std::string(suite_entries()[which.param].name); });

TEST(PublishedFigures, ThoseOfTheLogWritersAreTheTableOfThePost) {
  const std::vector<figures> rows = published_figures(japm_suite({}));
  EXPECT_EQ(rows.size(), 30U);
  const auto at = std::find_if(rows.begin(), rows.end(),
                               [](const figures& row) { return row.row == "FileChannel + Byte Buffer 재사용" && row.size == "50K"; });
  ASSERT_NE(at, rows.end());
  EXPECT_EQ(at->values.median, 2766);
  EXPECT_EQ(at->clock, clock_kind::ret);
}

TEST(PublishedFigures, RunsOnOneMachineBecomeTheirMedian) {
  const std::vector<figures> rows = published_figures(buffer_suite({}));
  const auto at = std::find_if(rows.begin(), rows.end(), [](const figures& row) { return row.row == "4K" && row.published == "p1-mac"; });
  ASSERT_NE(at, rows.end());
  EXPECT_EQ(at->values.repeats, 8U);
  EXPECT_NEAR(at->values.median, 100.8, 0.01);
}

TEST(CsvFields, AQuotedFieldMayHoldCommas) {
  EXPECT_EQ(csv_fields("a,\"b, \"\"c\"\"\",d"), (std::vector<std::string>{"a", "b, \"c\"", "d"}));
}

}  // namespace
}  // namespace penstock::bench
