// SPDX-License-Identifier: MIT
// The three clocks of a loop: the wall's, the calling thread's and the process's.
#pragma once

#include <ctime>
#include <utility>

#include "bench/suites/limit_loops.hpp"

namespace penstock::bench {

class limit_clock {
 public:
  /// Room for the times of `calls` calls is made before the clock runs. `call_cpu`: their processor time is read too.
  explicit limit_clock(std::uint64_t calls, bool call_cpu = false) : call_cpu_(call_cpu) {
    run_.call_us.reserve(static_cast<std::size_t>(calls));
  }

  void start() noexcept { begin_ = now(); }
  void call_begins() noexcept {
    if (call_cpu_) run_.call_cpu_seconds -= seconds(CLOCK_THREAD_CPUTIME_ID);
    call_begin_ = seconds(CLOCK_MONOTONIC);
  }
  void call_ends() {
    run_.call_us.push_back((seconds(CLOCK_MONOTONIC) - call_begin_) * 1e6);
    if (call_cpu_) run_.call_cpu_seconds += seconds(CLOCK_THREAD_CPUTIME_ID);
  }

  /// What was taken since start(), for `bytes` bytes.
  loop_run stop(std::uint64_t bytes) {
    const reading end = now();
    run_.bytes = bytes;
    run_.seconds = end.wall - begin_.wall;
    run_.thread_cpu_seconds = end.thread - begin_.thread;
    run_.process_cpu_seconds = end.process - begin_.process;
    return std::move(run_);
  }

 private:
  struct reading {
    double wall = 0;
    double thread = 0;
    double process = 0;
  };

  static double seconds(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  }
  static reading now() noexcept {
    return {.wall = seconds(CLOCK_MONOTONIC), .thread = seconds(CLOCK_THREAD_CPUTIME_ID), .process = seconds(CLOCK_PROCESS_CPUTIME_ID)};
  }

  loop_run run_{};
  reading begin_{};
  double call_begin_ = 0;
  bool call_cpu_;
};

}  // namespace penstock::bench
