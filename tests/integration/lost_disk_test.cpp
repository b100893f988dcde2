// SPDX-License-Identifier: MIT
// A disk that goes for good: every write and sync fails from then on (ext4 that was shut down). The sink ends, the program does not notice.
#include <gmock/gmock.h>

#include <atomic>

#include "tests/engine/running.hpp"
#include "tests/support/loop_disk.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;
using testing::loop_disk;

struct LostDisk : testing::Running, ::testing::WithParamInterface<const char*> {
  LostDisk() {
    told = 0;
    on_error([](const error_report& what) noexcept { told += what.os_error == EIO ? 1 : 0; });
  }
  ~LostDisk() override { on_error(nullptr); }
  config on(const loop_disk& disk) {
    config made = settings(GetParam());
    made.sinks["app"].path = disk / "log";
    if (is_ring()) made.sinks["app"].size = std::size_t{1} << 20;
    made.backend.memory = std::size_t{1} << 20;
    made.backend.overflow = overflow_policy::block;
    return made;
  }
  static void log_many() {
    for (int i = 0; i < 20'000; ++i) PENSTOCK_INFO("{} of so many that they fill the memory of the backend more than once", i);
  }
  bool is_ring() const { return std::string_view(GetParam()) == "mmap_ring"; }

  static inline std::atomic<int> told = 0;
};

TEST_P(LostDisk, EndsTheSinkAndHoldsNobodyUp) {
  loop_disk disk(folder.path(), {});
  if (!disk.refused().empty()) GTEST_SKIP() << disk.refused();
  start(on(disk));
  PENSTOCK_INFO("while there was a disk");
  ASSERT_TRUE(flush(10s));
  if (!disk.shut_down()) GTEST_SKIP() << "SKIPPED: this ext4 cannot be shut down";
  log_many();
  if (is_ring()) {
    // Its lines are in memory, and stay there; only the medium is gone.
    EXPECT_TRUE(flush(20s));
    EXPECT_FALSE(sync(20s));
    EXPECT_FALSE(sync(20s));
    EXPECT_FALSE(stats().sinks[0].disabled);
  } else {
    EXPECT_FALSE(flush(20s));
    log_many();
    const stats_snapshot now = stats();
    EXPECT_TRUE(now.sinks[0].disabled);
    EXPECT_GT(now.sinks[0].lost.total(), 0U);
  }
  EXPECT_GT(told, 0);
  static_cast<void>(flush(20s));
  testing::expect_sums(stats());
  static_cast<void>(stop(20s));
  EXPECT_NO_THROW(start(settings("null"))) << "the backend thread was left behind";
}

INSTANTIATE_TEST_SUITE_P(Under, LostDisk, ::testing::Values("write", "pwrite", "io_uring", "stdio", "mmap_ring"),
                         [](const ::testing::TestParamInfo<const char*>& chosen) { return std::string(chosen.param); });

}  // namespace
}  // namespace penstock
