// SPDX-License-Identifier: MIT
// More than one sink: each has what is its own, and one that stands still does not stop the others beyond what the policy says.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "lib/os/file.hpp"
#include "tests/engine/running.hpp"

namespace penstock::testing {
/// Laid out by the backend, by a formatter that counts.
struct counted {
  int number;
  static inline std::atomic<int> laid_out = 0;
};
}  // namespace penstock::testing

template <>
struct fmt::formatter<penstock::testing::counted> : fmt::formatter<int> {
  auto format(const penstock::testing::counted& value, fmt::format_context& out) const {
    ++penstock::testing::counted::laid_out;
    return fmt::formatter<int>::format(value.number, out);
  }
};
template <>
inline constexpr bool penstock::defer<penstock::testing::counted> = true;

namespace penstock {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

struct SeveralSinks : testing::Running {
  // A sink that the test stalls, with batches of a page, and a file beside it.
  config two_sinks() {
    control = testing::register_controlled_sink();
    config made = settings("write");
    sink_config stalled;
    stalled.type = "controlled";
    stalled.batch_size = 4096;
    stalled.pattern = "{message}";
    stalled.flush_interval = 1ms;
    made.sinks.emplace("stalled", stalled);
    made.loggers["root"].sinks.reset();
    return made;
  }
  const sink_stats& of(const stats_snapshot& now, std::string_view name) {
    for (const sink_stats& each : now.sinks)
      if (each.name == name) return each;
    throw std::runtime_error("no such sink");
  }
};

TEST_F(SeveralSinks, GetTheSameRecordsEachInItsPatternAndFromItsLevelOn) {
  config made = two_sinks();
  made.sinks.at("stalled").pattern = "{level}|{message}";
  made.loggers["audit"].sinks = std::vector<std::string>{"stalled"};
  start(made);
  PENSTOCK_INFO("to both {}", 1);
  PENSTOCK_LOG_WARNING(get("audit"), "to one {}", 2);
  ASSERT_TRUE(flush());
  EXPECT_EQ(text(), "to both 1\n");
  EXPECT_EQ(control->text(), "info|to both 1\nwarning|to one 2\n");
  testing::expect_sums(stats());
}

TEST_F(SeveralSinks, OfOnePatternShareTheWorkOfEachLine) {
  constexpr int count = 20'000;
  config made = settings("write");
  made.backend.format = format_mode::backend;
  sink_config& first = made.sinks.at("app");
  first.pattern = "{level} {message}";
  sink_config second = first;
  second.path = folder / "second";
  second.type = "pwrite";
  second.batch_size = 4096;
  made.sinks.emplace("second", second);
  second.path = folder / "other";
  second.pattern = "{message} {level}";
  made.sinks.emplace("other", second);
  start(made);
  testing::counted::laid_out = 0;
  std::string expected;
  for (int i = 0; i < count; ++i) {
    PENSTOCK_INFO("a\nb {}", testing::counted{i});
    expected += "info a\\nb " + std::to_string(i) + "\n";
  }
  ASSERT_TRUE(flush());
  EXPECT_EQ(testing::counted::laid_out, 2 * count) << "once for two sinks, and once for the third";
  EXPECT_EQ(text(), expected);
  EXPECT_EQ(testing::text_of(folder / "second"), expected);
  EXPECT_EQ(testing::lines_of(testing::text_of(folder / "other")).size(), static_cast<std::size_t>(count));
  testing::expect_sums(stats());
}

TEST_F(SeveralSinks, OneThatStandsStillLosesItsOwnWhereRecordsMayBeDropped) {
  config made = two_sinks();
  made.backend.overflow = overflow_policy::drop;
  made.backend.keep_level = level::critical;
  start(made);
  control->stall();
  constexpr int count = 20'000;
  for (int i = 0; i < count; ++i) PENSTOCK_INFO("record {:06}", i);
  EXPECT_FALSE(flush(200ms)) << "one of the two has not written what it took";
  // A short flush() may come before the backend has seen all of them.
  while (front().queued != 0 || of(stats(), "app").written.total() != of(stats(), "app").taken.total()) {
  }
  const stats_snapshot during = stats();
  EXPECT_EQ(of(during, "app").written.total(), static_cast<std::uint64_t>(count) - front().dropped_total());
  EXPECT_GT(of(during, "stalled").lost.total(), 0U);
  control->let_go();
  while (!flush()) {
  }
  PENSTOCK_INFO("afterwards");
  static_cast<void>(flush());
  const stats_snapshot after = stats();
  testing::expect_sums(after);
  EXPECT_EQ(of(after, "stalled").held.total(), 0U);
  EXPECT_THAT(control->text(), HasSubstr("records were lost: sink stalled: all of its batches were full"));
  EXPECT_THAT(control->text(), HasSubstr("afterwards\n"));
}

TEST_F(SeveralSinks, OneThatStandsStillIsWaitedForWhereNothingMayBeLost) {
  config made = two_sinks();
  start(made);
  control->stall();
  std::string expected;
  for (int i = 0; i < 5'000; ++i) {
    PENSTOCK_INFO("record {:06}", i);
    expected += "record " + std::string(6 - std::to_string(i).size(), '0') + std::to_string(i) + "\n";
  }
  EXPECT_FALSE(flush(100ms));
  control->let_go();
  ASSERT_TRUE(flush());
  EXPECT_EQ(control->text(), expected);
  EXPECT_EQ(text(), expected);
  EXPECT_EQ(of(stats(), "stalled").lost.total(), 0U);
}

TEST_F(SeveralSinks, OneThatFailsForGoodIsDisabledAndTheOtherGoesOn) {
  config made = two_sinks();
  start(made);
  {
    const std::lock_guard lock(control->mutex);
    control->every_result = {errc::closed, EPIPE};
  }
  PENSTOCK_INFO("first");
  while (!of(stats(), "stalled").disabled) static_cast<void>(flush(100ms));
  PENSTOCK_INFO("second");
  static_cast<void>(flush());
  EXPECT_EQ(text(), "first\nsecond\n");
  const stats_snapshot now = stats();
  testing::expect_sums(now);
  EXPECT_EQ(of(now, "stalled").written.total(), 0U);
  EXPECT_EQ(of(now, "stalled").lost.total(), 2U);
}

TEST_F(SeveralSinks, ALossIsToldByTheNextFlushAndByThatOnly) {
  start(two_sinks());
  {
    const std::lock_guard lock(control->mutex);
    control->every_result = {errc::closed, EPIPE};
  }
  PENSTOCK_INFO("first");
  while (!of(stats(), "stalled").disabled) std::this_thread::yield();  // Not flush(): that would be the one that tells.
  EXPECT_FALSE(flush()) << "lost before the call, and logged before it too";
  EXPECT_TRUE(flush());
  PENSTOCK_INFO("second");
  EXPECT_FALSE(sync());
  EXPECT_TRUE(flush());
  PENSTOCK_INFO("third");
  EXPECT_FALSE(stop());
}

TEST_F(SeveralSinks, ALossAfterStopIsToldByTheNextFlushToo) {
  const auto pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  os::descriptor reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  config made = settings("write");
  made.sinks["app"].path = pipe;
  start(made);
  PENSTOCK_INFO("first");
  EXPECT_TRUE(flush());
  EXPECT_TRUE(stop());
  EXPECT_TRUE(flush());
  reader.reset();
  PENSTOCK_INFO("second");
  EXPECT_FALSE(flush());
  EXPECT_TRUE(flush()) << "told once";
  EXPECT_EQ(of(stats(), "app").lost.total(), 1U);
}

}  // namespace
}  // namespace penstock
