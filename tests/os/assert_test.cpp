// SPDX-License-Identifier: MIT
#include "lib/os/assert.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Assert, GivesTheConditionBackWithoutCountingWhatHolds) {
  const auto before = penstock::os::failed_assertion_count();
  EXPECT_TRUE(PENSTOCK_ASSERT(2 > 1));
  EXPECT_EQ(penstock::os::failed_assertion_count(), before);
}

#ifdef PENSTOCK_ASSERTIONS
TEST(Assert, EndsTheProcessAndNamesTheConditionWhereAssertionsAreOn) {
  const int used_bytes = 5;
  EXPECT_DEATH(static_cast<void>(PENSTOCK_ASSERT(used_bytes == 4)), "assert_test.cpp:.*used_bytes == 4");
}
#else
TEST(Assert, CountsAFailureAndLetsTheCallerGoOnInARelease) {
  const auto before = penstock::os::failed_assertion_count();
  EXPECT_FALSE(PENSTOCK_ASSERT(2 < 1));
  EXPECT_EQ(penstock::os::failed_assertion_count(), before + 1);
}
#endif

}  // namespace
