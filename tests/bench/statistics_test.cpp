// SPDX-License-Identifier: MIT
#include "bench/suites/statistics.hpp"

#include <gtest/gtest.h>

namespace penstock::bench {
namespace {

TEST(Statistics, TheMedianOfAnOddNumberIsTheMiddleOne) {
  const summary s = summarise({5, 1, 3});
  EXPECT_EQ(s.median, 3);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.max, 5);
  EXPECT_EQ(s.repeats, 3U);
}

TEST(Statistics, TheMedianOfAnEvenNumberLiesBetweenTheMiddleTwo) { EXPECT_EQ(summarise({4, 1, 2, 10}).median, 3); }

TEST(Statistics, FivePassesBoundTheMedianByTheirExtremes) {
  const summary s = summarise({10, 11, 12, 13, 14});
  EXPECT_EQ(s.low, 10);
  EXPECT_EQ(s.high, 14);
}

TEST(Statistics, FifteenPassesForgetTheThreeOutermostOnEachSide) {
  std::vector<double> values;
  for (int i = 1; i <= 15; ++i) values.push_back(i);
  const summary s = summarise(values);
  EXPECT_EQ(s.low, 4);
  EXPECT_EQ(s.high, 12);
}

TEST(Statistics, AMedianWhosePassesAgreeIsTrusted) { EXPECT_TRUE(summarise({100, 101, 102, 103, 104}).trusted()); }

TEST(Statistics, AMedianWhosePassesDifferIsNotTrusted) { EXPECT_FALSE(summarise({80, 90, 100, 110, 120}).trusted()); }

TEST(Statistics, OneOutlierOfManyDoesNotSpoilTheTrust) {
  std::vector<double> values(14, 100.0);
  values.push_back(900);
  EXPECT_TRUE(summarise(values).trusted());
}

TEST(Statistics, TwoPassesAreNeverTrusted) { EXPECT_FALSE(summarise({100, 100}).trusted()); }

TEST(Statistics, PercentilesAreNearestRanks) {
  std::vector<double> values;
  for (int i = 1; i <= 1000; ++i) values.push_back(i);
  EXPECT_EQ(percentile(values, 0.5), 500);
  EXPECT_EQ(percentile(values, 0.99), 990);
  EXPECT_EQ(percentile(values, 0.999), 999);
  EXPECT_EQ(percentile(values, 1.0), 1000);
}

TEST(Statistics, FiguresHaveThreeDigits) {
  EXPECT_EQ(three_digits(0.0123456), "0.0123");
  EXPECT_EQ(three_digits(1.23456), "1.23");
  EXPECT_EQ(three_digits(12.3456), "12.3");
  EXPECT_EQ(three_digits(123.456), "123");
  EXPECT_EQ(three_digits(123456), "123000");
  EXPECT_EQ(three_digits(9.996), "10.0");
  EXPECT_EQ(three_digits(0), "0");
}

}  // namespace
}  // namespace penstock::bench
