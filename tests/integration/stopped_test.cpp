// SPDX-License-Identifier: MIT
// The program stands still, as a whole or only the thread that writes, and goes on; or it is ended by a signal.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <map>
#include <thread>

#include "tests/engine/running.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/stopped_thread.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

// "p=<thread> n=<number>" lines, of each thread in order and without a gap. Gives how many there are of each.
std::map<int, long> numbered(const std::vector<std::string>& lines) {
  std::map<int, long> next;
  for (const std::string& line : lines) {
    int p = 0;
    long n = 0;
    const std::size_t at = line.find("p=");
    if (at == std::string::npos || std::sscanf(line.c_str() + at, "p=%d n=%ld", &p, &n) != 2) continue;
    EXPECT_EQ(n, next[p]++) << line;
  }
  return next;
}

std::chrono::nanoseconds cpu_time() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

struct StoppedBackend : testing::Running, ::testing::WithParamInterface<const char*> {
  config small(overflow_policy overflow) {
    config made = settings(GetParam());
    made.backend.memory = std::size_t{1} << 20;
    made.backend.overflow = overflow;
    made.backend.keep_level = level::off;
    return made;
  }
  static constexpr int filler_bytes = 100;
};
INSTANTIATE_TEST_SUITE_P(Under, StoppedBackend, ::testing::Values("write", "pwrite", "io_uring", "stdio"),
                         [](const auto& chosen) { return std::string(chosen.param); });

// Who must not lose anything waits, without burning a processor, and goes on.
TEST_P(StoppedBackend, IsWaitedForAndNothingIsLostConcurrently) {
  start(small(overflow_policy::block));
  PENSTOCK_INFO("begin");
  ASSERT_TRUE(flush(30s));
  constexpr int thread_count = 3;
  constexpr long each_count = 20'000;
  std::atomic<long> logged{0};
  std::vector<std::thread> threads;
  {
    testing::stopped_thread backend(testing::thread_named("penstock"));
    if (!backend.refused().empty()) GTEST_SKIP() << backend.refused();
    for (int p = 0; p < thread_count; ++p)
      threads.emplace_back([&logged, p] {
        for (long n = 0; n < each_count; ++n) {
          PENSTOCK_INFO("p={} n={} {:{}}", p, n, "", filler_bytes);
          ++logged;
        }
      });
    // Until all wait, or are about to.
    while (stats().memory_bytes + (std::size_t{128} << 10) < stats().memory_budget_bytes) std::this_thread::yield();
    EXPECT_LT(logged, thread_count * each_count) << "more than the memory holds";
    const auto cpu_before = cpu_time();
    EXPECT_FALSE(flush(500ms));
    EXPECT_LT(cpu_time() - cpu_before, 100ms) << "somebody turns in circles for a second";
    EXPECT_FALSE(sync(1ms));
  }
  for (std::thread& each : threads) each.join();
  EXPECT_TRUE(flush(60s));
  const std::map<int, long> found = numbered(testing::lines_of(text()));
  ASSERT_EQ(found.size(), std::size_t{thread_count});
  for (const auto& [p, count] : found) EXPECT_EQ(count, each_count) << p;
  EXPECT_EQ(front().dropped_total(), 0U);
  testing::expect_sums(stats());
}

TEST_P(StoppedBackend, HoldsNobodyUpWhoMayLoseRecordsAndEachIsCounted) {
  start(small(overflow_policy::drop));
  PENSTOCK_INFO("begin");
  ASSERT_TRUE(flush(30s));
  constexpr long count = 50'000;
  {
    testing::stopped_thread backend(testing::thread_named("penstock"));
    if (!backend.refused().empty()) GTEST_SKIP() << backend.refused();
    for (long n = 0; n < count; ++n) PENSTOCK_INFO("n={} {:{}}", n, "", filler_bytes);  // It comes to an end: that is the test.
  }
  EXPECT_TRUE(flush(60s));
  const front_stats now = front();
  EXPECT_GT(now.dropped_total(), 0U);
  EXPECT_EQ(records_of(text()).size() + now.dropped_total(), 1U + count);
  EXPECT_NE(text().find("records dropped (info "), std::string::npos) << "the log says so";
  testing::expect_sums(stats());
}

// The library in a program of its own: a forked child.
struct Signalled : testing::Running, ::testing::WithParamInterface<const char*> {
  template <class Body>
  pid_t begin(Body body) {
    const pid_t child = ::fork();
    if (child == 0) {
      for (const int caught_by_sanitizers : {SIGSEGV, SIGABRT}) std::signal(caught_by_sanitizers, SIG_DFL);
      const rlimit no_core{};
      ::setrlimit(RLIMIT_CORE, &no_core);
      count_anew();
      ::_exit(body());
    }
    return child;
  }
  static int status_of(pid_t child) {
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};
INSTANTIATE_TEST_SUITE_P(Under, Signalled, ::testing::Values("write", "pwrite", "io_uring", "stdio"),
                         [](const auto& chosen) { return std::string(chosen.param); });

// Nothing of ours stands between a signal and its default action: what was flushed is there, and nothing but the last line is torn.
TEST_P(Signalled, EndsByTheSignalItselfAndKeepsWhatWasHandedOver) {
  for (const int signal : {SIGTERM, SIGINT, SIGABRT, SIGSEGV, SIGKILL}) {
    std::filesystem::remove(log());
    const pid_t child = begin([&] {
      start(settings(GetParam()));
      for (long n = 0; n < 5'000; ++n) PENSTOCK_INFO("p=0 n={}", n);
      if (!flush(30s)) return 1;
      std::thread([] {
        for (long n = 0; n < 5'000; ++n) PENSTOCK_INFO("p=1 n={}", n);
      }).join();
      std::raise(signal);
      return 2;
    });
    ASSERT_EQ(status_of(child), -signal);
    std::string found = text();
    if (!found.empty() && found.back() != '\n') found.resize(found.rfind('\n') + 1);
    std::map<int, long> counts = numbered(testing::lines_of(found));
    EXPECT_EQ(counts[0], 5'000) << "signal " << signal;
  }
}

// SIGSTOP and SIGCONT, again and again: no record lost, no time that falls, no talk of a clock that was set.
TEST_P(Signalled, StandsStillAndGoesOnAsIfNothingWereConcurrently) {
  constexpr int thread_count = 2;
  const std::filesystem::path end = folder / "end";
  const pid_t child = begin([&] {
    config made = settings(GetParam());
    made.sinks["app"].pattern = "{time:%Y-%m-%d %H:%M:%S.%f} {thread} {message}";
    start(made);
    std::vector<std::thread> threads;
    for (int p = 0; p < thread_count; ++p)
      threads.emplace_back([&, p] {
        for (long n = 0; !std::filesystem::exists(end); ++n) PENSTOCK_INFO("p={} n={}", p, n);
      });
    for (std::thread& each : threads) each.join();
    if (!stop(60s)) return 1;
    return front().dropped_total() == 0 ? 0 : 2;
  });
  for (int stop_count = 0; stop_count < 20; ++stop_count) {
    std::this_thread::sleep_for(5ms);  // It runs for a while, and
    ASSERT_EQ(::kill(child, SIGSTOP), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, WUNTRACED), child);
    ASSERT_TRUE(WIFSTOPPED(status)) << status;
    std::this_thread::sleep_for(stop_count % 5 == 0 ? 200ms : 20ms);  // stands still for a while.
    ASSERT_EQ(::kill(child, SIGCONT), 0);
  }
  testing::write_text(end, "");
  ASSERT_EQ(status_of(child), 0);
  const std::vector<std::string> lines = testing::lines_of(text());
  EXPECT_EQ(numbered(lines).size(), std::size_t{thread_count});
  std::map<std::string, std::string> last;  // Of each thread.
  for (const std::string& line : lines) {
    ASSERT_EQ(line.find("penstock:"), std::string::npos) << line;
    const std::size_t time_end = line.find(' ', line.find(' ') + 1);
    const std::string time = line.substr(0, time_end);
    std::string& before = last[line.substr(time_end + 1, line.find(' ', time_end + 1) - time_end)];
    ASSERT_LE(before, time);
    before = time;
  }
}

}  // namespace
}  // namespace penstock
