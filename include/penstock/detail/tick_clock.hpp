// SPDX-License-Identifier: MIT
// The time of a record, in ticks of the cheapest clock that the machine has. The backend turns ticks into wall time (lib/backend/time_map).
#pragma once

#include <cstdint>

namespace penstock::detail {

/// Ticks of the time-stamp counter (x86-64) or of the virtual counter (aarch64). Not ordered against other loads: two calls of one thread
/// may be off by a few cycles, never across a call's commit.
inline std::uint64_t counter_ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // not __rdtsc(): its header is the half of what a file that logs would read
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

#if defined(__x86_64__) || defined(__aarch64__)
inline constexpr bool has_counter = true;
#else
inline constexpr bool has_counter = false;
#endif

}  // namespace penstock::detail
