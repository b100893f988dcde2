// SPDX-License-Identifier: MIT
// The workloads of `penstock bench logger`, the same for every logger.
//
//   T1, T2   throughput: one producer, or several, log as fast as they can; the clock stops when every line is in the file
//   L1, L2   latency of one call: bursts of calls with a pause behind each
//   J1       long records: one string of 1,000 to 50,000 bytes
//   I1       idle: a thousand threads log one record each and then nothing; only where it is asked for
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::bench {

enum class workload_kind : std::uint8_t { throughput, latency, long_records, idle };

struct workload {
  std::string name{};  ///< "T1", "J1 50K"
  workload_kind kind = workload_kind::throughput;
  std::size_t threads = 1;
  std::uint64_t calls = 0;       ///< of each thread, without those that warm up
  std::size_t record_bytes = 0;  ///< long_records only
};

/// What the caller of `bench logger` may change; 0: the usual number.
struct workload_options {
  std::vector<std::string> names{"T1", "T2", "L1", "L2", "J1"};
  std::size_t threads = 4;    ///< of T2 and L2
  std::uint64_t records = 0;  ///< T: of all threads; L: calls of each thread; J: of each size; I: threads
};

/// Errors: std::invalid_argument for an unknown name.
std::vector<workload> workloads_of(const workload_options& chosen);

/// Calls come in bursts of so many; a pause follows each burst.
inline constexpr std::uint64_t burst_calls = 20;
inline constexpr std::uint64_t pause_ns = 200'000;
/// Bursts before the first that counts.
constexpr std::uint64_t warm_bursts(const workload& of) noexcept { return of.calls / burst_calls / 10 + 1; }

/// The number that T2 adds to the indices of each next thread; no thread makes as many calls.
inline constexpr std::uint64_t thread_stride = 100'000'000;

/// The lines that a run must leave in its file.
constexpr std::uint64_t expected_lines(const workload& of) noexcept {
  const std::uint64_t each = of.kind == workload_kind::latency ? of.calls + warm_bursts(of) * burst_calls : of.calls;
  return each * of.threads;
}

/// The arguments of the calls, so that no loop computes them.
struct call_values {
  std::array<double, 1024> prices{};
  std::array<const char*, 8> symbols{"BTCUSD", "ETHUSD", "AAPL.N", "MSFT.Q", "EURUSD", "GBPJPY", "ESZ5.C", "NVDA.Q"};
};
const call_values& values() noexcept;

/// The text of a long record: letters between a beginning and an end that tell whether all of it is there.
std::string long_record(std::size_t bytes);

}  // namespace penstock::bench
