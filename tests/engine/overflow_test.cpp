// SPDX-License-Identifier: MIT
// What happens when the budget is spent: who waits, who is dropped, and that the log says so.
#include <time.h>

#include <atomic>
#include <map>
#include <thread>

#include "lib/transport/chunk.hpp"
#include "tests/engine/running.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/process.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

// A thread that waits for a block may leave less than one.
constexpr std::uint64_t transport_slack = transport::block_bytes;
// Of the backend and of who waits for it; how often they look is theirs.
constexpr testing::thread_cost a_fifth_of_500ms{.cpu_us = 100'000, .naps = 1'000'000};

struct Overflow : testing::Running {
  config with(overflow_policy policy) {
    config made = controlled();
    made.backend.memory = std::size_t{1} << 20;
    made.backend.overflow = policy;
    return made;
  }
  // The sink stands still with a batch in its hands.
  void stall() {
    control->stall();
    PENSTOCK_ERROR("stalled");
    control->await_stall();
  }
  static std::int64_t thread_cpu_ns() {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1'000'000'000L + t.tv_nsec;
  }
};

TEST_F(Overflow, DropsBelowTheLevelToKeepAndSaysSoInTheLog) {
  start(with(overflow_policy::drop));
  stall();
  const std::string text(500, 'x');
  for (int i = 0; i < 5'000; ++i) {
    PENSTOCK_INFO("{}", text);
    PENSTOCK_DEBUG("{}", text);
  }
  const front_stats full = front();
  EXPECT_GT(full.dropped_total(), 5'000U);
  EXPECT_EQ(full.accepted.total(), full.taken.total() + full.dropped_total() + full.queued);
  control->let_go();
  ASSERT_TRUE(flush());
  testing::expect_sums(stats());
  const auto dropped = front().dropped[static_cast<std::size_t>(drop_reason::overflow)];
  EXPECT_EQ(records_of(control->text()).size() + dropped.total(), 10'001U);
  std::vector<std::string> said;
  for (const std::string& line : testing::lines_of(control->text()))
    if (line.rfind("penstock: ", 0) == 0) said.push_back(line);
  ASSERT_EQ(said.size(), 1U);
  const std::string expected = "penstock: " + std::to_string(dropped.total()) + " records dropped (debug " +
                               std::to_string(dropped[level::debug]) + ", info " + std::to_string(dropped[level::info]) +
                               "): the memory budget was spent; from ";
  EXPECT_EQ(said[0].substr(0, expected.size()), expected);
  EXPECT_NE(said[0].find(" to ", expected.size()), std::string::npos);
}

TEST_F(Overflow, KeepsRecordsAtTheLevelToKeepByWaitingForThemConcurrently) {
  start(with(overflow_policy::drop));
  stall();
  const std::string text(500, 'x');
  std::thread thread([&] {
    for (int i = 0; i < 4'000; ++i) PENSTOCK_WARNING("{}", text);
  });
  // Full before anything is let go: the thread waits, or will.
  while (stats().memory_bytes + transport_slack < stats().memory_budget_bytes) std::this_thread::yield();
  control->let_go();
  thread.join();
  ASSERT_TRUE(flush());
  EXPECT_EQ(front().dropped_total(), 0U);
  EXPECT_EQ(front().taken[level::warning], 4'000U);
  testing::expect_sums(stats());
}

TEST_F(Overflow, BlocksWithoutBurningAProcessorConcurrently) {
  start(with(overflow_policy::block));
  stall();
  std::atomic<std::int64_t> cpu_ns{0};
  std::atomic<std::int64_t> logged{0};
  std::thread thread([&] {
    const std::string text(500, 'x');
    for (int i = 0; i < 4'000; ++i) {
      PENSTOCK_INFO("{}", text);
      ++logged;
    }
    cpu_ns = thread_cpu_ns();
  });
  while (stats().memory_bytes + transport_slack < stats().memory_budget_bytes) std::this_thread::yield();
  EXPECT_TRUE(testing::others_come_to_rest(500ms, a_fifth_of_500ms));
  const std::int64_t stuck_at = logged;
  EXPECT_LT(stuck_at, 4'000);
  control->let_go();
  thread.join();
  ASSERT_TRUE(flush());
  EXPECT_EQ(front().taken[level::info], 4'000U);
  testing::expect_sums(stats());
}

TEST_F(Overflow, BlocksNoLongerThanToldAndCountsWhatTimedOut) {
  config made = with(overflow_policy::block);
  made.backend.block_timeout = 20ms;
  start(made);
  stall();
  const std::string text(60'000, 'x');
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 30; ++i) PENSTOCK_INFO("{}", text);
  const auto took = std::chrono::steady_clock::now() - begin;
  const std::uint64_t dropped = front().dropped[static_cast<std::size_t>(drop_reason::timeout)].total();
  EXPECT_GE(dropped, 10U);
  EXPECT_GE(took, 20ms * dropped);
  control->let_go();
  ASSERT_TRUE(flush());
  EXPECT_NE(control->text().find("the memory budget was spent for block_timeout; from "), std::string::npos);
  testing::expect_sums(stats());
}

TEST_F(Overflow, CountsExactlyOverManyStallsWithAFlushBetweenEach) {
  start(with(overflow_policy::drop));
  const std::string text(2'000, 'x');
  for (int round = 0; round < 50; ++round) {
    stall();
    for (int i = 0; i < 700; ++i) PENSTOCK_INFO("{} {}", round, text);
    control->let_go();
    ASSERT_TRUE(flush()) << "round " << round;
    testing::expect_sums(stats());
    ASSERT_EQ(front().accepted.total(), 701U * static_cast<unsigned>(round + 1));
  }
  EXPECT_EQ(records_of(control->text()).size() + front().dropped_total(), 701U * 50);
}

// In a child, since a library that was left behind never starts again.
TEST_F(Overflow, ReleasesThreadsThatWaitWhenTheLibraryGivesUpConcurrently) {
  const auto give_up = [this] {
    start(with(overflow_policy::block));
    stall();
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([] {
        const std::string text(5'000, 'x');
        for (int i = 0; i < 200; ++i) PENSTOCK_INFO("{}", text);
      });
    while (stats().memory_bytes + transport_slack < stats().memory_budget_bytes) std::this_thread::yield();
    if (stop(100ms)) return 1;
    for (std::thread& each : threads) each.join();
    const front_stats now = front();
    if (now.dropped[static_cast<std::size_t>(drop_reason::stopping)].total() == 0) return 3;
    if (now.accepted.total() != now.taken.total() + now.dropped_total() + now.queued) return 4;
    if (flush() || stop()) return 5;
    try {
      start();
      return 6;
    } catch (const config_error&) {
      return 0;
    }
  };
  EXPECT_EQ(testing::status_of_child(give_up), 0);
}

TEST_F(Overflow, LetsTheBackendsOwnThreadLogNoMoreThanItsQuota) {
  start(with(overflow_policy::block));
  static std::atomic<int> submits{0};
  submits = 0;
  control->on_submit = [] {
    if (submits++ != 0) return;
    const std::string text(1'000, 'q');
    for (int i = 0; i < 1'000; ++i) PENSTOCK_INFO("{}", text);
    EXPECT_FALSE(flush(10s)) << "on the backend's own thread";
    EXPECT_FALSE(stop(10s));
    EXPECT_THROW(start(), config_error);
    EXPECT_GT(stats().front.accepted.total(), 0U);
  };
  PENSTOCK_ERROR("once");
  ASSERT_TRUE(flush());
  ASSERT_TRUE(flush());
  const std::uint64_t dropped = front().dropped[static_cast<std::size_t>(drop_reason::backend_quota)].total();
  EXPECT_GT(dropped, 600U);
  EXPECT_LT(dropped, 800U);
  EXPECT_NE(control->text().find("the backend's own quota was spent"), std::string::npos);
  control->on_submit = nullptr;
}

TEST_F(Overflow, EndsAlsoIfASinkLogsWheneverItIsGivenSomething) {
  start(with(overflow_policy::block));
  control->on_submit = [] { PENSTOCK_ERROR("a sink that cannot be quiet"); };
  PENSTOCK_ERROR("once");
  ASSERT_TRUE(flush());
  EXPECT_TRUE(stop(20s));
}

TEST_F(Overflow, WaitsForAFullSinkWithoutBurningAProcessorConcurrently) {
  start(with(overflow_policy::drop));
  {
    const std::lock_guard lock(control->mutex);
    control->every_result = {errc::no_space, ENOSPC};
  }
  on_error([](const error_report&) noexcept {});
  PENSTOCK_ERROR("held");
  std::atomic<bool> flushed{false};
  std::thread flusher([&flushed] { flushed = flush(); });
  EXPECT_TRUE(testing::others_come_to_rest(500ms, a_fifth_of_500ms));
  EXPECT_FALSE(flushed);
  {
    const std::lock_guard lock(control->mutex);
    control->every_result = {};
  }
  flusher.join();
  EXPECT_TRUE(flushed);
  EXPECT_EQ(records_of(control->text()).size(), 1U);
  on_error(nullptr);
}

TEST_F(Overflow, TellsTheErrorHandlerAtMostOnceASecond) {
  static std::atomic<int> told{0};
  static std::atomic<std::uint64_t> accepted{0};
  told = 0;
  on_error([](const error_report& what) noexcept {
    ++told;
    accepted = stats().front.accepted.total();
    PENSTOCK_INFO("the handler logs: {}", what.message);
  });
  start(with(overflow_policy::drop));
  {
    const std::lock_guard lock(control->mutex);
    control->every_result = {errc::no_space, ENOSPC};
  }
  const auto begin = std::chrono::steady_clock::now();
  PENSTOCK_ERROR("held");
  EXPECT_TRUE(testing::eventually([] { return told >= 3; }));
  const int told_by_then = told;
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_LE(told_by_then, 1 + took / 1s) << "the first at once, each other one a second after the last";
  EXPECT_FALSE(flush(1ms));
  EXPECT_GE(accepted, 1U);
  {
    const std::lock_guard lock(control->mutex);
    control->every_result = {};
  }
  EXPECT_TRUE(flush());
  on_error(nullptr);
}

}  // namespace
}  // namespace penstock
