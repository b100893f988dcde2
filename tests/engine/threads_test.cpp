// SPDX-License-Identifier: MIT
// Many threads: what they cost when they are gone, when they are idle, and the order in which they log.
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "tests/engine/running.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/sanitizers.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

std::size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t whole = 0;
  std::size_t resident = 0;
  in >> whole >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

struct Threads : testing::Running {};

// 64 alive at a time; three records each.
TEST_F(Threads, ThatAreShortLivedLeaveNothingBehindConcurrently) {
  const int rounds = testing::sanitized ? 60 : 100'000 / 64;
  config made = settings("null");
  start(made);
  std::size_t after_first_thousand = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::thread> threads;
    threads.reserve(64);
    for (int t = 0; t < 64; ++t)
      threads.emplace_back([] {
        PENSTOCK_INFO("begin {}", 1);
        PENSTOCK_INFO("middle {}", 2.5);
        PENSTOCK_INFO("end {}", "text");
      });
    for (std::thread& each : threads) each.join();
    if (round == 15) after_first_thousand = resident_bytes();
  }
  ASSERT_TRUE(flush());
  EXPECT_EQ(front().taken.total(), 3U * 64 * static_cast<unsigned>(rounds));
  testing::expect_sums(stats());
  if (!testing::sanitized) {
    EXPECT_LT(resident_bytes(), after_first_thousand + after_first_thousand / 5);
  }
  ASSERT_TRUE(stop());
  EXPECT_LE(stats().threads, 1U) << "streams of threads that ended are still in use";
  EXPECT_LE(stats().memory_bytes, 128U << 10);
}

TEST_F(Threads, ThatAreIdleCostNothing) {
  start(settings());
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  std::atomic<int> logged{0};
  for (int t = 0; t < 100; ++t)
    threads.emplace_back([&] {
      PENSTOCK_INFO("once");
      ++logged;
      end.wait(false);
    });
  while (logged != 100) std::this_thread::yield();
  ASSERT_TRUE(flush());
  // Once all of them are parked, nobody wakes any more. The thread sanitizer has a thread of its own, which does ten times a second.
  constexpr testing::thread_cost nearly_nothing{.cpu_us = testing::sanitized ? 50'000 : 1'000, .naps = testing::under_tsan ? 20 : 0};
  EXPECT_TRUE(testing::others_come_to_rest(1s, nearly_nothing));
  // And nobody sleeps too well.
  PENSTOCK_INFO("awake");
  EXPECT_TRUE(testing::eventually([this] { return text().find("awake") != std::string::npos; }));
  end = true;
  end.notify_all();
  for (std::thread& each : threads) each.join();
}

TEST_F(Threads, ThatWakeTheBackendAfterGapsOfAllLengthsAreHeard) {
  control = testing::register_controlled_sink();
  config made = settings("controlled");
  made.sinks["app"].flush_interval = 1ms;
  start(made);
  std::size_t expected = 0;
  for (int i = 0; i < 300; ++i) {
    PENSTOCK_INFO("{}", i % 10);
    expected += 2;
    const auto give_up_at = std::chrono::steady_clock::now() + testing::patience;
    while (control->text().size() < expected) {
      ASSERT_LT(std::chrono::steady_clock::now(), give_up_at) << "record " << i << " was never written: a lost wake-up";
      std::this_thread::yield();
    }
    const std::chrono::microseconds gap(i % 100 == 99 ? 70'000 : (i * 37) % 1'000);
    std::this_thread::sleep_for(gap);  // From nothing to beyond the time after which a quiet stream is parked.
  }
}

// Two threads pass a token and log in strict alternation.
TEST_F(Threads, ThatPassATokenAreWrittenInTheOrderOfTheTokenConcurrently) {
  if (testing::under_asan) GTEST_SKIP() << "calls under the address sanitizer may take longer than the reorder window";
  config made = settings();
  made.sinks["app"].pattern = "{time:%s%N} {message}";
  made.backend.reorder_window = 1ms;
  start(made);
  const int turns = testing::sanitized ? 4'000 : 50'000;
  std::atomic<int> token{0};
  const auto run = [&](int own) {
    for (int i = own; i < turns; i += 2) {
      while (token.load(std::memory_order_acquire) != i) std::this_thread::yield();
      PENSTOCK_INFO("{}", i);
      token.store(i + 1, std::memory_order_release);
    }
  };
  std::thread one(run, 0);
  std::thread two(run, 1);
  one.join();
  two.join();
  ASSERT_TRUE(flush());
  int expected = 0;
  int out_of_order = 0;
  long long last = 0;
  int last_of[2] = {-1, -1};
  for (const std::string& line : testing::lines_of(text())) {
    if (line.find("penstock: ") != std::string::npos) continue;
    const long long time = std::stoll(line);
    EXPECT_GE(time, last);
    last = time;
    const int turn = std::stoi(line.substr(line.find(' ')));
    if (turn != expected) ++out_of_order;
    EXPECT_GT(turn, last_of[turn % 2]) << "out of order within a thread";
    last_of[turn % 2] = turn;
    ++expected;
  }
  EXPECT_EQ(expected, turns);
  // A thread may lose its processor for longer than the window between the reading of the clock and the commit: such records are counted.
  // And the counter is read without a fence, some ns before the load of the token is through (docs/ordering.md): then two are swapped.
  EXPECT_LE(static_cast<std::uint64_t>(out_of_order), 100 * front().late + static_cast<unsigned>(turns) / 1'000);
}

TEST_F(Threads, ThatOutnumberThePagesOfASmallBudgetDoNotLockUpConcurrently) {
  config made = settings();
  made.backend.memory = std::size_t{1} << 20;
  start(made);
  std::atomic<int> logged{0};
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  constexpr int count = 400;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      PENSTOCK_INFO("{}", t);
      ++logged;
      end.wait(false);
    });
  EXPECT_TRUE(testing::eventually([&] { return logged == count; }))
      << logged << " have logged; idle threads hold the whole budget, and the others wait for ever";
  end = true;
  end.notify_all();
  for (std::thread& each : threads) each.join();
  ASSERT_TRUE(flush());
  EXPECT_EQ(records_of(text()).size(), static_cast<std::size_t>(count));
}

TEST_F(Threads, ThatLogMuchAtOnceLoseNothingWithAnySinkConcurrently) {
  for (const char* type : {"write", "pwrite", "io_uring", "stdio"}) {
    config made = settings(type);
    made.backend.memory = std::size_t{2} << 20;
    made.sinks["app"].batch_size = 4096;
    start(made);
    const int each_count = testing::sanitized ? 2'000 : 30'000;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([=] {
        for (int i = 0; i < each_count; ++i)
          PENSTOCK_INFO("p={} n={} {}", t, i, std::string_view("xxxxxxxxxxxxxxxxxxxxxxxxx").substr(static_cast<std::size_t>(i) % 25));
      });
    for (std::thread& each : threads) each.join();
    ASSERT_TRUE(stop()) << type;
    std::vector<int> next(4);
    std::size_t lines = 0;
    for (const std::string& line : testing::lines_of(text())) {
      int p = 0;
      int n = 0;
      ASSERT_EQ(std::sscanf(line.c_str(), "p=%d n=%d", &p, &n), 2) << line;
      ASSERT_EQ(n, next[static_cast<std::size_t>(p)]++) << type << ", thread " << p;
      ++lines;
    }
    EXPECT_EQ(lines, 4U * static_cast<unsigned>(each_count)) << type;
    testing::expect_sums(stats());
    std::filesystem::remove(log());
  }
}

TEST_F(Threads, GiveTheMemoryOfABurstBack) {
  config made = controlled();
  made.backend.memory = std::size_t{64} << 20;
  start(made);
  control->stall();
  PENSTOCK_ERROR("stalled");
  control->await_stall();
  const std::string text(50'000, 'x');
  for (int i = 0; i < 1'000; ++i) PENSTOCK_INFO("{}", text);
  EXPECT_GT(stats().memory_bytes, std::size_t{40} << 20);
  control->let_go();
  ASSERT_TRUE(flush());
  EXPECT_LT(stats().memory_bytes, std::size_t{1} << 20);
}

}  // namespace
}  // namespace penstock
