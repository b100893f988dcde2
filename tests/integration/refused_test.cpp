// SPDX-License-Identifier: MIT
// What the kernel, or a configuration, refuses: the library goes on, or nothing has changed.
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

#include "tests/engine/running.hpp"
#include "tests/support/process.hpp"
#include "tests/support/refused_calls.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

struct Refused : testing::Running {};

TEST_F(Refused, MembarrierCostsNoRecordNeitherInARunNorAfterIt) {
  const int status = testing::status_of_child([this] {
    if (!testing::refuse_call(SYS_membarrier, EPERM)) return 77;
    start(settings());
    for (int i = 0; i < 100; ++i) {
      std::thread([] { PENSTOCK_INFO("short-lived"); }).join();
      PENSTOCK_INFO("own");
    }
    if (!flush()) return 2;
    if (testing::lines_of(text()).size() != 200) return 3;
    // Another thread, alive and never parked, over the stop.
    std::atomic<int> step{0};
    std::thread thread([&] {
      PENSTOCK_INFO("before");
      step = 1;
      step.notify_all();
      step.wait(1);
      PENSTOCK_INFO("after");
    });
    step.wait(0);
    if (!stop()) return 4;
    step = 2;
    step.notify_all();
    thread.join();
    PENSTOCK_INFO("own, after");
    const auto lines = testing::lines_of(text());
    if (lines.size() != 203) return 5;
    return stats().front.queued == 0 ? 0 : 6;
  });
  if (status == 77) GTEST_SKIP() << "seccomp filters are refused here";
  EXPECT_EQ(status, 0);
}

TEST_F(Refused, AThreadAtStartLeavesNothingBehindAndASecondStartWorks) {
  for (const char* type : {"write", "pwrite", "stdio"}) {
    std::filesystem::remove(log());
    const int status = testing::status_of_child([&] {
      rlimit none{};
      ::getrlimit(RLIMIT_NPROC, &none);
      const rlimit all = none;
      none.rlim_cur = 0;
      ::chmod(folder.path().c_str(), 0777);
      if (::geteuid() == 0 && ::setresuid(65'534, 65'534, 65'534) != 0) return 77;  // Nothing limits root.
      ::setrlimit(RLIMIT_NPROC, &none);
      bool refused = false;
      try {
        start(settings(type));
      } catch (const std::system_error& error) {
        refused = error.code().value() == EAGAIN;
      }
      ::setrlimit(RLIMIT_NPROC, &all);
      if (!refused) return 77;
      start(settings(type));
      PENSTOCK_INFO("it works");
      if (!stop()) return 2;
      return text() == "it works\n" ? 0 : 3;
    });
    if (status == 77) GTEST_SKIP() << "no limit on threads without other rights";
    EXPECT_EQ(status, 0) << type;
  }
}

TEST_F(Refused, ASinkAtStartLeavesTheRunningLibraryAsItIs) {
  start(settings());
  PENSTOCK_INFO("one");
  config bad = settings();
  bad.sinks["app"].path = folder / "not" / "there" / "log";
  EXPECT_THROW(start(bad), config_error) << "it runs already";
  PENSTOCK_INFO("two");
  ASSERT_TRUE(stop());
  EXPECT_THROW(start(bad), std::system_error);
  PENSTOCK_INFO("three");
  start(settings());
  PENSTOCK_INFO("four");
  ASSERT_TRUE(stop());
  EXPECT_EQ(text(), "one\ntwo\nthree\nfour\n");
}

TEST_F(Refused, AFactoryMayLogAndThrow) {
  static int made = 0;
  made = 0;
  register_sink_type("talkative", [](const sink_config&) -> std::unique_ptr<sink> {
    PENSTOCK_INFO("from the factory {}", ++made);
    static_cast<void>(stats());
    if (made == 1) throw config_error("sinks.app: not today");
    return std::make_unique<testing::controlled_sink>(std::make_shared<testing::sink_control>());
  });
  config talkative = settings("controlled");
  talkative.sinks["app"].type = "talkative";
  EXPECT_THROW(start(talkative), config_error);
  start(talkative);
  ASSERT_TRUE(flush());
  EXPECT_EQ(made, 2);
  testing::expect_sums(stats());
  ASSERT_TRUE(stop());
}

TEST_F(Refused, RestartWithAnotherBudgetKeepsWhatThreadsHold) {
  std::atomic<int> round{0};
  std::atomic<int> done{0};
  constexpr int rounds = 40;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 1; i <= rounds; ++i) {
        int now = round;
        while (now < i) {
          round.wait(now);
          now = round;
        }
        for (int k = 0; k < 200; ++k) PENSTOCK_INFO("{} {}", i, std::string(static_cast<std::size_t>(k) * 7, 'x'));
        ++done;
        done.notify_all();
      }
    });
  for (int i = 1; i <= rounds; ++i) {
    config made = settings();
    made.backend.memory = std::size_t{1} << (20 + i % 5);
    start(made);
    round = i;
    round.notify_all();
    for (int now = done; now < 8 * i; now = done) done.wait(now);
    ASSERT_TRUE(stop());
    testing::expect_sums(stats());
    EXPECT_LE(stats().memory_bytes, stats().memory_budget_bytes);
  }
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(testing::lines_of(text()).size(), 8U * rounds * 200);
}

// What only a filter can show here: quotas, devices that are taken away, file systems that become read-only.
struct Answer {
  const char* type;
  int os_error;
};
void PrintTo(const Answer& of, std::ostream* out) { *out << of.type << " " << of.os_error; }

struct RefusedWrite : testing::Running, ::testing::WithParamInterface<Answer> {
  // A stream has a descriptor of its own.
  std::vector<int> descriptors_of_log() const {
    std::vector<int> found;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      if (std::filesystem::read_symlink(each.path(), gone) == log()) found.push_back(std::atoi(each.path().filename().c_str()));
    }
    return found;
  }

  int status_of_refusal() {
    static std::atomic<int> told{0};
    static errc told_code{};
    on_error([](const error_report& what) noexcept {
      if (what.sink != "app" || what.os_error != GetParam().os_error) return;
      told_code = what.code;
      ++told;
    });
    config made = settings(GetParam().type);
    made.backend.overflow = overflow_policy::drop;  // So that the other sink does not wait for this one.
    made.backend.keep_level = level::off;
    made.sinks.emplace("other", sink_on(folder / "other"));
    start(made);
    PENSTOCK_INFO("before");
    if (!flush(30s)) return 1;
    const std::vector<int> fds = descriptors_of_log();
    if (fds.empty()) return 2;
    if (!testing::refuse_calls({SYS_write, SYS_pwrite64, SYS_writev, SYS_pwritev2}, GetParam().os_error, fds)) return 77;
    for (int i = 0; i < 10; ++i) PENSTOCK_INFO("refused {}", i);
    const bool like_full = GetParam().os_error == EDQUOT;
    const auto app = [] { return stats().sinks[0]; };
    // Ten attempts are what a device gets; a quota may be raised at any time.
    while (like_full ? app().errors <= 12 : !app().disabled) {
      if (flush(50ms) && like_full) return 3;
    }
    if (told == 0 || told_code != (like_full ? errc::no_space : errc::io)) return 4;
    if (like_full && (app().disabled || app().held.total() != 10 || app().lost.total() != 0)) return 5;
    if (!like_full && app().lost.total() != 10) return 6;
    if (app().bytes != text().size() || text() != "before\n") return 7;
    PENSTOCK_INFO("the other goes on");
    while (testing::lines_of(testing::text_of(folder / "other")).size() < 12) static_cast<void>(flush(50ms));
    if (stop(60s) && like_full) return 8;
    const sink_stats last = app();
    return last.written.total() == 1 && last.lost.total() == 11 && last.held.total() == 0 ? 0 : 9;
  }
};
INSTANTIATE_TEST_SUITE_P(With, RefusedWrite,
                         ::testing::Values(Answer{"write", EDQUOT}, Answer{"write", ENXIO}, Answer{"write", EROFS},
                                           Answer{"pwrite", EDQUOT}, Answer{"pwrite", ENODEV}, Answer{"stdio", EDQUOT},
                                           Answer{"stdio", EROFS}),
                         [](const auto& of) { return std::string(of.param.type) + std::to_string(of.param.os_error); });

TEST_P(RefusedWrite, OfAQuotaIsWaitedOutAndOfADeviceEndsTheSinkAlone) {
  const int status = testing::status_of_child([this] { return status_of_refusal(); });
  if (status == 77) GTEST_SKIP() << "seccomp filters are refused here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock
