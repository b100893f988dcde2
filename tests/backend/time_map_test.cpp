// SPDX-License-Identifier: MIT
#include "lib/backend/time_map.hpp"

#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <cmath>
#include <random>

#include "tests/support/process.hpp"

namespace penstock {
namespace {

using backend::time_map;
using backend::wall_ns;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t second = 1'000 * ms;

// A system clock that runs beside the counter, with a rate and steps of its own.
struct TimeMap : ::testing::Test {
  void SetUp() override {
    map = time_map::measure(clock_source::tsc);
    if (map.source() != clock_source::tsc) GTEST_SKIP() << "no usable counter here: " << map.refusal();
    ticks = map.read_both().ticks;
    system = map.at(ticks);
  }
  // Lets time pass; `ppm`: how much faster than the counter's first rate the system clock runs.
  void pass(std::int64_t ns, double ppm) {
    ticks += map_ticks(ns);
    system += ns + static_cast<std::int64_t>(static_cast<double>(ns) * ppm / 1e6);
  }
  std::uint64_t map_ticks(std::int64_t ns) const { return rate_map.ticks_of_ns(ns); }

  time_map map;
  const time_map rate_map = time_map::measure(clock_source::tsc);
  std::uint64_t ticks = 0;
  wall_ns system = 0;
};

TEST_F(TimeMap, FollowsADriftingClockWithoutEverFalling) {
  for (const double ppm : {0.0, 50.0, -50.0, 400.0, -400.0}) {
    wall_ns last = map.at(ticks);
    std::mt19937 random(7);
    for (int i = 0; i < 600; ++i) {
      pass(100 * ms, ppm);
      const std::int64_t jitter = static_cast<std::int64_t>(random() % 200) - 100;
      EXPECT_EQ(map.resync(ticks, system + jitter), 0) << ppm;
      ASSERT_GE(map.at(ticks), last);
      last = map.at(ticks);
      // Between two looks, too.
      ASSERT_GE(map.at(ticks + map_ticks(50 * ms)), last);
      last = std::max(last, map.at(ticks));
    }
    EXPECT_LT(std::abs(map.at(ticks) - system), 200'000) << ppm;
  }
}

TEST_F(TimeMap, TellsAStepOfTheSystemClockOnceAndFollowsIt) {
  for (const std::int64_t step : {3'600 * second, -3'600 * second, 5 * ms, -5 * ms, 20 * 365 * 86'400 * second}) {
    for (int i = 0; i < 20; ++i) {
      pass(100 * ms, 10);
      EXPECT_EQ(map.resync(ticks, system), 0);
    }
    system += step;
    pass(100 * ms, 10);
    const std::int64_t told = map.resync(ticks, system);
    EXPECT_NEAR(static_cast<double>(told), static_cast<double>(step), 1e6) << step;
    EXPECT_LT(std::abs(map.at(ticks) - system), 2);
    for (int i = 0; i < 20; ++i) {
      pass(100 * ms, 10);
      EXPECT_EQ(map.resync(ticks, system), 0) << "told twice";
      EXPECT_LT(std::abs(map.at(ticks) - system), ms);
    }
  }
}

TEST_F(TimeMap, DoesNotTakeADayWithoutRecordsForAStep) {
  for (const double ppm : {20.0, -20.0}) {
    for (int i = 0; i < 50; ++i) {
      pass(100 * ms, 0);
      EXPECT_EQ(map.resync(ticks, system), 0);
    }
    pass(86'400 * second, ppm);  // 1.7 s apart by now.
    const wall_ns before = map.at(ticks);
    EXPECT_EQ(map.resync(ticks, system), 0) << ppm;
    EXPECT_GE(map.at(ticks), before - 1) << "times never fall";
    for (int i = 0; i < 200; ++i) {
      pass(100 * ms, 0);
      EXPECT_EQ(map.resync(ticks, system), 0) << ppm;
    }
    EXPECT_LT(std::abs(map.at(ticks) - system), ms) << ppm;
  }
}

TEST_F(TimeMap, AsksToBeComparedAboutOnceASecond) {
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t due = map.next_resync_ticks();
    ASSERT_GT(due, ticks);
    ASSERT_LE(due, ticks + map_ticks(1'200 * ms));
    const auto ahead = static_cast<std::int64_t>(due - ticks);
    pass(static_cast<std::int64_t>(static_cast<double>(ahead) / static_cast<double>(map_ticks(second)) * 1e9), 5);
    ticks = std::max(ticks, due);
    EXPECT_EQ(map.resync(ticks, system), 0);
  }
}

TEST(SystemClock, IsTheIdentity) {
  const time_map map = time_map::measure(clock_source::system);
  EXPECT_EQ(map.source(), clock_source::system);
  EXPECT_EQ(map.refusal(), nullptr);
  EXPECT_EQ(map.at(1'700'000'000'000'000'123), 1'700'000'000'000'000'123);
  const wall_ns before = backend::system_now();
  const auto now = static_cast<wall_ns>(map.ticks_now());
  EXPECT_GE(now, before);
  EXPECT_LE(now, backend::system_now());
}

TEST(SystemClock, IsUsedWhereTheCounterMayNotBeRead) {
#if defined(__x86_64__)
  const int status = testing::status_of_child([] {
    if (::prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0) return 77;
    const time_map map = time_map::measure(clock_source::tsc);
    return map.source() == clock_source::system && map.refusal() != nullptr ? 0 : 1;
  });
  if (status == 77) GTEST_SKIP() << "prctl(PR_SET_TSC) is refused here";
  EXPECT_EQ(status, 0);
#else
  GTEST_SKIP() << "x86-64 only";
#endif
}

}  // namespace
}  // namespace penstock
