// SPDX-License-Identifier: MIT
// The two ledgers: what became of every record, in front of the backend and in each sink. Each term is counted on its own; they add up
// exactly whenever nothing moves (after flush() or stop()).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <penstock/base/export.hpp>
#include <penstock/base/level.hpp>

namespace penstock {

/// A count for each level of a record, from trace to critical.
struct level_counts {
  std::array<std::uint64_t, level_count> at{};

  std::uint64_t& operator[](level l) noexcept { return at[static_cast<std::size_t>(l)]; }
  std::uint64_t operator[](level l) const noexcept { return at[static_cast<std::size_t>(l)]; }
  std::uint64_t total() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint64_t n : at) sum += n;
    return sum;
  }
  friend bool operator==(const level_counts&, const level_counts&) = default;
};

/// Why a record was dropped before the backend took it.
enum class drop_reason : std::uint8_t { overflow, timeout, backend_quota, stopping };
inline constexpr std::size_t drop_reason_count = 4;

/// accepted = taken + dropped + queued.
struct front_stats {
  level_counts accepted{};  ///< passed the level test
  level_counts taken{};     ///< read by the backend
  std::array<level_counts, drop_reason_count> dropped{};
  std::uint64_t queued = 0;
  std::uint64_t late = 0;       ///< taken later than the reorder window allows for, and written out of order
  std::uint64_t cut_short = 0;  ///< too long for min(16 MiB, memory / 4), cut with a marker

  std::uint64_t dropped_total() const noexcept {
    std::uint64_t sum = 0;
    for (const level_counts& reason : dropped) sum += reason.total();
    return sum;
  }
};

/// Durations of the calls that handed a batch over, in nanoseconds, by powers of two: bucket n counts those below 2^n.
struct latency_histogram {
  std::array<std::uint64_t, 40> below_power_of_two{};
  std::uint64_t sum_ns = 0;  ///< of all durations
};

/// taken = written + lost + held, per level.
struct sink_stats {
  std::string name{};
  std::string type{};      ///< the type really used
  std::string fallback{};  ///< why it is not the configured one; empty: it is
  std::string note{};      ///< what it does without although it is (registered memory, O_DIRECT); empty: nothing
  level_counts taken{};
  level_counts written{};  ///< accepted by the kernel
  level_counts lost{};
  level_counts held{};  ///< in the open batch, in flight, or waiting after an error
  std::uint64_t bytes = 0;
  std::uint64_t batches = 0;
  std::uint64_t errors = 0;
  bool disabled = false;
  latency_histogram submit_latency{};
};

struct stats_snapshot {
  front_stats front{};
  std::vector<sink_stats> sinks{};
  std::uint64_t threads = 0;       ///< streams in use now
  std::uint64_t memory_bytes = 0;  ///< record memory in use now, in bytes
  std::uint64_t memory_budget_bytes = 0;
};

}  // namespace penstock
