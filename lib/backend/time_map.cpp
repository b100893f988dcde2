// SPDX-License-Identifier: MIT
#include "lib/backend/time_map.hpp"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>

#include <penstock/detail/tick_clock.hpp>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace penstock::backend {

namespace {

constexpr std::int64_t step_ns = 1'000'000;            // Beyond this, and what drift explains, the system clock was set.
constexpr std::int64_t drift_divisor = 1'000;          // NTP slews by up to 500 ppm, and our own rate is not exact: 1 in 1,000.
constexpr std::int64_t resync_ns_max = 1'000'000'000;  // 1 s: at 50 ppm of drift 50 us, far below a step.

std::int64_t read_clock(clockid_t id) noexcept {
  timespec t{};
  ::clock_gettime(id, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// Null if the counter is fit for use.
const char* counter_refusal() noexcept {
  if (!detail::has_counter) return "this processor has no counter that programs may read";
#if defined(__x86_64__)
  int mode = PR_TSC_ENABLE;
  if (::prctl(PR_GET_TSC, &mode) == 0 && mode != PR_TSC_ENABLE) return "reading the time-stamp counter is forbidden in this process";
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x8000'0007, &a, &b, &c, &d) == 0 || (d & (1U << 8)) == 0) return "the time-stamp counter is not invariant here";
#endif
  return nullptr;
}

}  // namespace

wall_ns system_now() noexcept { return read_clock(CLOCK_REALTIME); }
std::int64_t steady_now() noexcept { return read_clock(CLOCK_MONOTONIC); }

std::uint64_t time_map::ticks_now() const noexcept {
  return source_ == clock_source::tsc ? detail::counter_ticks() : static_cast<std::uint64_t>(system_now());
}

std::uint64_t time_map::ticks_of_ns(std::int64_t ns) const noexcept {
  return static_cast<std::uint64_t>((static_cast<wide>(ns) << 32) / ns_per_tick_q32_);
}

time_map::reading time_map::read_both() const noexcept {
  // The narrowest of a few brackets: an interrupt in between widens it.
  reading best{};
  std::uint64_t narrowest = ~std::uint64_t{0};
  for (int i = 0; i < 5; ++i) {
    const std::uint64_t before = ticks_now();
    const wall_ns system = system_now();
    const std::uint64_t after = ticks_now();
    if (after - before >= narrowest) continue;
    narrowest = after - before;
    best = {before + (after - before) / 2, system};
  }
  return best;
}

time_map time_map::measure(clock_source wanted) {
  time_map map;
  if (wanted == clock_source::tsc) map.refusal_ = counter_refusal();
  if (wanted == clock_source::system || map.refusal_ != nullptr) {
    map.next_resync_ticks_ = ~std::uint64_t{0};
    return map;  // Ticks are nanoseconds of the system clock: the identity.
  }
  map.source_ = clock_source::tsc;
  const reading first = map.read_both();
  const std::int64_t start = steady_now();
  while (steady_now() - start < 2'000'000) {
  }
  const reading second = map.read_both();
  const auto ticks = static_cast<std::int64_t>(second.ticks - first.ticks);
  if (ticks <= 0 || second.system <= first.system) {
    map.source_ = clock_source::system;
    map.refusal_ = "the time-stamp counter does not advance with the system clock";
    map.next_resync_ticks_ = ~std::uint64_t{0};
    return map;
  }
  map.ns_per_tick_q32_ = static_cast<std::int64_t>((static_cast<wide>(second.system - first.system) << 32) / ticks);
  map.measured_q32_ = map.ns_per_tick_q32_;
  map.base_ticks_ = map.last_ticks_ = second.ticks;
  map.base_ns_ = map.last_system_ = second.system;
  map.next_resync_ticks_ = second.ticks + map.ticks_of_ns(map.resync_ns_);
  return map;
}

std::int64_t time_map::resync(std::uint64_t ticks, wall_ns system) noexcept {
  if (source_ != clock_source::tsc) return 0;
  const wall_ns predicted = at(ticks);
  const std::int64_t error = system - predicted;
  const auto elapsed_ticks = static_cast<std::int64_t>(ticks - last_ticks_);
  const std::int64_t elapsed_ns = system - last_system_;
  last_ticks_ = ticks;
  last_system_ = system;
  std::int64_t stepped = 0;
  base_ticks_ = ticks;
  // Nobody looks while nothing is logged: clocks that drifted apart for hours were not set.
  const std::int64_t drift_ns = static_cast<std::int64_t>((static_cast<wide>(elapsed_ticks) * measured_q32_) >> 32) / drift_divisor;
  if (std::abs(error) > step_ns + std::abs(drift_ns) + correcting_ns_) {
    base_ns_ = system;
    ns_per_tick_q32_ = measured_q32_;
    correcting_ns_ = 0;
    stepped = error;
  } else {
    base_ns_ = error > step_ns ? system : predicted;
    if (elapsed_ticks > 0 && elapsed_ns > 0) {
      const auto measured = static_cast<std::int64_t>((static_cast<wide>(elapsed_ns) << 32) / elapsed_ticks);
      measured_q32_ = measured;
      resync_ns_ = std::min(resync_ns_ * 4, resync_ns_max);
      // Make up the error over the next interval; never by more than half of the rate, so that time goes on forward.
      const std::int64_t rest = system - base_ns_;
      correcting_ns_ = std::abs(rest);
      const std::int64_t correction = static_cast<std::int64_t>(static_cast<wide>(measured) * rest / resync_ns_);
      ns_per_tick_q32_ = measured + std::clamp(correction, -measured / 2, measured / 2);
    }
  }
  next_resync_ticks_ = ticks + ticks_of_ns(resync_ns_);
  return stepped;
}

}  // namespace penstock::backend
