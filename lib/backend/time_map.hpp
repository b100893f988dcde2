// SPDX-License-Identifier: MIT
// Turns the ticks of records into wall time. The counter's rate is learnt at start and corrected against CLOCK_REALTIME by slewing, so that
// times never fall unless the system clock itself was stepped.
#pragma once

#include <cstdint>

#include <penstock/config.hpp>

namespace penstock::backend {

/// A point in time, in nanoseconds since 1970-01-01 UTC.
using wall_ns = std::int64_t;

class time_map {
 public:
  /// A map for the counter; measures its rate for about 2 ms. Falls back to the system clock where the counter cannot be used; see
  /// source().
  static time_map measure(clock_source wanted);

  clock_source source() const noexcept { return source_; }
  /// Why the counter is not used although it was asked for; null: it is.
  const char* refusal() const noexcept { return refusal_; }

  /// Now, in the ticks of records.
  std::uint64_t ticks_now() const noexcept;
  std::uint64_t ticks_of_ns(std::int64_t ns) const noexcept;

  wall_ns at(std::uint64_t ticks) const noexcept {
    const auto since = static_cast<std::int64_t>(ticks - base_ticks_);
    return base_ns_ + static_cast<wall_ns>((static_cast<wide>(since) * ns_per_tick_q32_) >> 32);
  }

  /// Compares with the system clock: slews, or jumps if they are more than 1 ms apart.
  ///
  /// \return nanoseconds that the system clock was stepped by, 0 if it was not.
  std::int64_t resync(std::uint64_t ticks, wall_ns system) noexcept;
  /// When resync() is due next, in ticks.
  std::uint64_t next_resync_ticks() const noexcept { return next_resync_ticks_; }

  /// One reading of both clocks, taken as close together as can be.
  struct reading {
    std::uint64_t ticks;
    wall_ns system;
  };
  reading read_both() const noexcept;

 private:
  __extension__ using wide = __int128;

  clock_source source_ = clock_source::system;
  const char* refusal_ = nullptr;
  std::uint64_t base_ticks_ = 0;
  wall_ns base_ns_ = 0;
  std::int64_t ns_per_tick_q32_ = std::int64_t{1} << 32;
  std::int64_t measured_q32_ = std::int64_t{1} << 32;  // Without the correction that is under way.
  std::int64_t correcting_ns_ = 0;                     // What the map is slewing off.
  std::uint64_t last_ticks_ = 0;
  wall_ns last_system_ = 0;
  std::uint64_t next_resync_ticks_ = 0;
  std::int64_t resync_ns_ = 10'000'000;  // Grows to a second as the rate gets to be known.
};

/// CLOCK_REALTIME in nanoseconds.
wall_ns system_now() noexcept;

/// CLOCK_MONOTONIC in nanoseconds.
std::int64_t steady_now() noexcept;

}  // namespace penstock::backend
