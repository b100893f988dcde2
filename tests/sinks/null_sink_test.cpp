// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "sinks/factory.hpp"
#include "tests/sinks/backend_double.hpp"
#include "tests/support/faulty_calls.hpp"

namespace penstock::sinks {
namespace {

TEST(NullSink, LendsItsBatchAgainAndAgainAndCallsNobody) {
  sink_config settings;
  settings.type = "null";
  settings.batch_size = 8192;
  const penstock::testing::faulty_calls watched;
  const auto made = make_null_sink(settings);
  for (int i = 0; i < 100; ++i) {
    const batch lent = made->lend({});
    ASSERT_EQ(lent.room.size(), 8192U);
    ASSERT_EQ(lent.end, cut::pages);
    lent.room.back() = std::byte{'x'};
    ASSERT_TRUE(made->submit(lent.room.size()).ok());
  }
  EXPECT_TRUE(made->flush().ok());
  EXPECT_TRUE(made->sync().ok());
  EXPECT_EQ(made->abandon(), 0U);
  EXPECT_TRUE(watched.write_bytes.empty());
}

TEST(NullSink, LeavesAnotherOneAtItsEnd) {
  const auto retired = make_null_sink({.type = "null", .batch_size = 4096})->retire();
  ASSERT_NE(retired, nullptr);
  EXPECT_TRUE(penstock::testing::backend_double(*retired).line_now("late\n").ok());
  EXPECT_EQ(retired->describe().kind, "null");
}

}  // namespace
}  // namespace penstock::sinks
