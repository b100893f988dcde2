// SPDX-License-Identifier: MIT
// What sync() says of a medium that fails: never that all is safe while something that was logged before may not be.
#include <gmock/gmock.h>

#include "tests/engine/running.hpp"

namespace penstock {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

constexpr outcome failure{errc::io, EIO};

struct Sync : testing::Running {
  Sync() {
    on_error([](const error_report&) noexcept {});
  }
  ~Sync() override { on_error(nullptr); }
};

TEST_F(Sync, FailsOnceForEachFailureAndTheLogMarksWhatItWas) {
  start(controlled());
  control->syncs = {failure};
  PENSTOCK_INFO("doubtful");
  EXPECT_FALSE(sync());
  EXPECT_THAT(control->text(), Not(HasSubstr("medium")));
  PENSTOCK_INFO("safe");
  EXPECT_TRUE(sync());
  EXPECT_TRUE(flush());
  EXPECT_THAT(control->text(), HasSubstr("penstock: sink app: a sync failed (Input/output error) and works again: of the 14 bytes before"));
}

TEST_F(Sync, TellsOfAFailureThatNobodyWaitedFor) {
  config made = controlled();
  made.sinks["app"].sync.each_batch = true;
  start(made);
  control->syncs = {failure};
  PENSTOCK_INFO("doubtful");
  ASSERT_TRUE(flush());
  EXPECT_FALSE(sync());
  EXPECT_TRUE(sync());
}

}  // namespace
}  // namespace penstock
