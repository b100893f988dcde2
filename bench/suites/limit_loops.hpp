// SPDX-License-Identifier: MIT
// The loops that `bench sinks --limits` compares: what the machine does when a few lines of code ask it directly, and the same bytes
// through a sink. Both sides write the same batches to a file of the same kind, which is made, checked and removed outside the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include <penstock/config.hpp>

namespace penstock::bench {

/// What one run of a loop took, without its first `warm_up_batches` batches.
struct loop_run {
  std::uint64_t bytes = 0;
  double seconds = 0;
  double thread_cpu_seconds = 0;         ///< of the calling thread (CLOCK_THREAD_CPUTIME_ID): what a backend thread pays
  double process_cpu_seconds = 0;        ///< with the kernel's io_uring workers
  std::vector<double> call_us{};         ///< of each batch: the call, or from submit() until there is room again
  double call_cpu_seconds = 0;           ///< of the calling thread within the calls; only where the loop was asked to look
  std::uint64_t resident_bytes_max = 0;  ///< of the file, in the page cache; only where the loop looked

  double bytes_per_second() const noexcept { return static_cast<double>(bytes) / seconds; }
  double thread_cpu_per_gb() const noexcept { return thread_cpu_seconds / (static_cast<double>(bytes) / 1e9); }
  double process_cpu_per_gb() const noexcept { return process_cpu_seconds / (static_cast<double>(bytes) / 1e9); }
  /// The time that a fraction of the calls did not exceed, in microseconds.
  double call_percentile_us(double fraction) const;
};

using loop = std::function<loop_run()>;

/// How much a loop writes.
struct loop_size {
  std::filesystem::path file{};
  std::uint64_t bytes = 0;  ///< at least; whole batches
  std::size_t batch_bytes = std::size_t{256} << 10;
};

/// Every loop begins with this many batches before the clock: all memory of a sink has its content then, and preallocation has begun.
inline constexpr std::uint64_t warm_up_batches = 8;

/// How a raw loop writes its file.
struct raw_way {
  bool append = false;     ///< write(2) on O_APPEND, otherwise pwrite(2)
  bool allocate = false;   ///< fallocate(FALLOC_FL_KEEP_SIZE), 64 MiB at a time, as our sinks do
  bool direct = false;     ///< O_DIRECT
  bool overwrite = false;  ///< over a file that is in the page cache already: the limit of the copy alone
};

/// W, C and D: one hot batch, again and again.
///
/// Errors: unavailable, where the file system has no O_DIRECT; std::runtime_error, if the file is not what was written.
loop_run run_raw(const loop_size& size, const raw_way& way);

/// D by io_uring: O_DIRECT, four registered batches in flight, in no order.
///
/// Errors: unavailable, where there is no io_uring, no O_DIRECT, or no locked memory.
loop_run run_raw_direct_uring(const loop_size& size);

/// M: lines copied into one batch in memory, again and again, without any file. `mixed`: 40 to 400 bytes long instead of 120.
loop_run run_lines_in_memory(const loop_size& size, bool mixed);

/// X: 64 KiB that are hot, copied into the mapping of a ring's file, which our sink made and which is populated. `streaming`: by stores
/// that pass the caches by.
///
/// Errors: unavailable, where there is no ring, or no such stores.
loop_run run_copy_to_mapping(const loop_size& size, std::size_t ring_bytes, bool streaming);

/// What is given to a sink.
enum class feed {
  ready_batches,  ///< batches that are full already: the cost of handing over
  lines,          ///< lines of 120 bytes, copied into the batch one by one, as the backend lays them out
};

/// How a sink is driven.
struct sink_way {
  feed of = feed::ready_batches;
  double bytes_per_second = 0;       ///< batches become due at this pace; 0: as fast as it goes
  bool watch_call_cpu = false;       ///< reads the thread's processor time before and after each call: two system calls more
  bool watch_page_cache = false;     ///< looks every 32 MiB how much of the file is in the page cache; not for clocks
  bool sync_before_looking = false;  ///< brings all to the medium first, so that only what stays is seen
};

/// A sink, driven by lend and submit as the backend drives it, until flush() says that all is with the kernel.
///
/// Errors: unavailable, if this machine has no such sink or refuses what was asked for; std::runtime_error, if the file is not what was
///         written.
loop_run run_sink(const sink_config& settings, std::uint64_t bytes, const sink_way& way);

/// The logger as a program uses it: one thread logs a burst of records of 120 bytes, which fits into the memory of the backend, to a sink
/// that stands still for `stall_ms` at its first batch. Its clock stops when the last call returns.
loop_run run_stalled_logger(const std::filesystem::path& file, std::uint64_t bytes, int stall_ms);

/// How much of a file is in the page cache.
///
/// Source: man 2 cachestat (Linux 6.5); before it, mincore(2) of a mapping.
std::uint64_t page_cache_bytes(const std::filesystem::path& file);

}  // namespace penstock::bench
