// SPDX-License-Identifier: MIT
// A disk that stands still: whoever writes to it waits in the kernel and cannot be interrupted. Only the backend may be among them.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/engine/running.hpp"
#include "tests/support/loop_disk.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/process.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;
using testing::frozen_disk;
using testing::loop_disk;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr int record_count = 60'000;  // 6 MiB as lines: more than the memory and all batches hold
constexpr int refused_here = 77;

struct FrozenDisk : testing::Running, ::testing::WithParamInterface<const char*> {
  config on(const loop_disk& disk, overflow_policy overflow) {
    config made = settings(GetParam());
    made.sinks["app"].path = path = disk / "log";
    if (is_ring()) made.sinks["app"].size = 16 * mebibyte;
    made.backend.memory = mebibyte;
    made.backend.overflow = overflow;
    made.backend.keep_level = level::off;
    return made;
  }
  static void log_many(int from, int to) {
    static const std::string filler(100, 'x');
    for (int i = from; i < to; ++i) PENSTOCK_INFO("{}{}", i, filler);
  }
  bool is_ring() const { return std::string_view(GetParam()) == "mmap_ring"; }

  // The numbers of the lines on the disk, which must rise and be whole. A ring's are not read here: -1.
  long count_of_lines() const {
    if (is_ring()) return -1;
    long count = 0;
    long last = -1;
    for (const std::string& line : records_of(testing::text_of(path))) {
      const long n = std::strtol(line.c_str(), nullptr, 10);
      EXPECT_EQ(line, std::to_string(n) + std::string(100, 'x'));
      EXPECT_GT(n, last);
      last = n;
      ++count;
    }
    return count;
  }

  std::filesystem::path path;
};

TEST_P(FrozenDisk, HoldsNoCallerUpWhereRecordsMayBeDroppedAndEachIsWrittenOrCounted) {
  const loop_disk disk(folder.path(), {});
  if (!disk.refused().empty()) GTEST_SKIP() << disk.refused();
  start(on(disk, overflow_policy::drop));
  log_many(0, 1'000);
  ASSERT_TRUE(flush());
  frozen_disk ice(disk.path());
  if (!ice.refused().empty()) GTEST_SKIP() << ice.refused();
  log_many(1'000, record_count);
  EXPECT_FALSE(flush(100ms));
  EXPECT_FALSE(sync(100ms));
  EXPECT_TRUE(ice.thaw()) << "a caller, a flush or a sync waited for the disk";
  EXPECT_TRUE(flush());
  const stats_snapshot now = stats();
  testing::expect_sums(now);
  EXPECT_GT(front().dropped_total(), 0U);
  EXPECT_EQ(front().taken.total() + front().dropped_total(), static_cast<std::uint64_t>(record_count));
  EXPECT_EQ(now.sinks[0].written.total(), front().taken.total());
  EXPECT_EQ(now.sinks[0].errors, 0U);
  ASSERT_TRUE(stop());
  if (!is_ring()) {
    EXPECT_EQ(static_cast<std::uint64_t>(count_of_lines()), now.sinks[0].written.total());
  }
}

TEST_P(FrozenDisk, IsWaitedOutWhereNothingMayBeLostConcurrently) {
  const loop_disk disk(folder.path(), {});
  if (!disk.refused().empty()) GTEST_SKIP() << disk.refused();
  start(on(disk, overflow_policy::block));
  frozen_disk ice(disk.path());
  if (!ice.refused().empty()) GTEST_SKIP() << ice.refused();
  std::atomic<bool> done{false};
  log_many(0, 1);
  std::thread thread([&done] {
    log_many(1, record_count);
    done = true;
  });
  EXPECT_FALSE(flush(200ms));
  EXPECT_FALSE(done) << "the disk was not frozen, or this test is too small";
  EXPECT_TRUE(ice.thaw());
  thread.join();
  EXPECT_TRUE(flush());
  EXPECT_EQ(stats().sinks[0].written.total(), static_cast<std::uint64_t>(record_count));
  ASSERT_TRUE(stop());
  if (!is_ring()) {
    EXPECT_EQ(count_of_lines(), record_count);
  }
}

// In a process of its own: a backend that is left behind stays so.
TEST_P(FrozenDisk, DoesNotHoldUpTheDeadlineOfStop) {
  const loop_disk disk(folder.path(), {});
  if (!disk.refused().empty()) GTEST_SKIP() << disk.refused();
  const int status = testing::status_of_child([&] {
    start(on(disk, overflow_policy::block));
    frozen_disk ice(disk.path());
    if (!ice.refused().empty()) return refused_here;
    log_many(0, 1'000);
    if (stop(200ms)) return 1;
    if (!ice.thaw()) return 2;
    // The thread that was left behind still brings out what it has.
    const std::string last = "999" + std::string(100, 'x') + "\n";
    return testing::eventually([&] { return testing::text_of(path).find(last) != std::string::npos; }) ? 0 : 3;
  });
  if (status == refused_here) GTEST_SKIP() << "SKIPPED: the disk cannot be frozen (FIFREEZE)";
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Under, FrozenDisk, ::testing::Values("write", "pwrite", "io_uring", "stdio", "mmap_ring"),
                         [](const ::testing::TestParamInfo<const char*>& chosen) { return std::string(chosen.param); });

}  // namespace
}  // namespace penstock
