// SPDX-License-Identifier: MIT
// What a run reads of its process, and what comes of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace penstock::bench {

/// User and system time of the whole process, spinning threads included.
double process_cpu_seconds() noexcept;
/// VmHWM. Not ru_maxrss, which starts from the size of the process that this one was forked from.
std::uint64_t peak_memory_bytes();

/// What is resident now. Source: man 5 proc, /proc/pid/statm, second number.
std::uint64_t resident_bytes();

/// The size of a file; 0 if it is not there (yet).
std::uint64_t bytes_of(const std::filesystem::path& file) noexcept;

/// The processors that this process may use, in ascending order.
std::vector<int> usable_cpus();
/// Binds the calling thread; nothing for -1.
void pin_this_thread(int cpu) noexcept;
/// Binds all other threads of the process, for loggers that cannot be told where their thread shall run.
void pin_other_threads(int cpu);

/// What the clocks and counters gave, before any line was checked.
struct raw_run {
  double written_seconds = 0;   ///< from the first call until every line was with the kernel
  double returned_seconds = 0;  ///< until the last call returned
  double cpu_seconds = 0;
  std::uint64_t base_memory_bytes = 0;  ///< peak before the logger started
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t file_bytes = 0;
  double idle_cpu_share = 0;                 ///< idle only: processor time of the process while nothing is logged, 1: one processor
  double idle_bytes_per_thread = 0;          ///< idle only: what is resident more than before the threads logged
  std::vector<std::uint64_t> call_ticks{};   ///< latency only: each call that counts
  std::vector<std::uint64_t> empty_ticks{};  ///< latency only: a measurement of nothing after each call
};

/// Nearest-rank percentiles in nanoseconds.
struct latency_figures {
  double p50 = 0;
  double p90 = 0;
  double p99 = 0;
  double p999 = 0;
  double max = 0;
};
latency_figures figures_of(std::vector<std::uint64_t> ticks);

/// Free of coordinated omission: a call that lasts longer than the pause holds up the bursts that were due meanwhile, which a loop that
/// waits for the call never makes. For each of them `burst` calls are added, with the time that each would have waited.
///
/// Source: Gil Tene, "How NOT to Measure Latency"; HdrHistogram, recordValueWithExpectedInterval.
std::vector<std::uint64_t> with_calls_held_up(std::vector<std::uint64_t> ticks, std::uint64_t pause_ticks, std::uint64_t burst);

}  // namespace penstock::bench
