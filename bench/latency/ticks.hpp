// SPDX-License-Identifier: MIT
// A counter read before and after a single call, fenced so that nothing of the call moves out of between.
#pragma once

#include <chrono>
#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace penstock::bench {

#if defined(__x86_64__)

// Source: Intel, "How to Benchmark Code Execution Times" (324264): a load fence on both sides of rdtsc, rdtscp at the end.
inline std::uint64_t ticks_before() noexcept {
  _mm_lfence();
  const std::uint64_t ticks = __rdtsc();
  _mm_lfence();
  return ticks;
}
inline std::uint64_t ticks_after() noexcept {
  unsigned cpu = 0;
  const std::uint64_t ticks = __rdtscp(&cpu);
  _mm_lfence();
  return ticks;
}
inline void spin_pause() noexcept { _mm_pause(); }

#elif defined(__aarch64__)

inline std::uint64_t ticks_before() noexcept {
  std::uint64_t ticks = 0;
  __asm__ __volatile__("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
  return ticks;
}
inline std::uint64_t ticks_after() noexcept { return ticks_before(); }
inline void spin_pause() noexcept { __asm__ __volatile__("yield" ::: "memory"); }

#else

inline std::uint64_t ticks_before() noexcept {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
inline std::uint64_t ticks_after() noexcept { return ticks_before(); }
inline void spin_pause() noexcept {}

#endif

/// Measured against the steady clock for 50 ms, once.
double ticks_per_ns() noexcept;

}  // namespace penstock::bench
