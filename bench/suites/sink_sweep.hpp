// SPDX-License-Identifier: MIT
// One sink at one batch size and page-cache policy, driven as fast as it goes: what `bench sinks` and `tune` are made of.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <penstock/config.hpp>

#include "bench/suites/pass.hpp"

namespace penstock::bench {

struct sweep_choice {
  std::string type;
  page_cache_policy cache = page_cache_policy::keep;
  std::size_t batch_bytes = 0;

  /// "io_uring/keep/256 KiB".
  std::string name() const;
  friend bool operator==(const sweep_choice&, const sweep_choice&) = default;
};

std::string_view text(page_cache_policy policy) noexcept;

/// The five file sinks × the batch sizes from 4 KiB to 4 MiB × the policies, as far as a config file may say so.
std::vector<sweep_choice> sweep_choices();
inline constexpr std::size_t sweep_batch_bytes_min = std::size_t{4} << 10;
inline constexpr std::size_t sweep_batch_bytes_max = std::size_t{4} << 20;

/// One pass. A hand-over begins with submit() and ends when there is room for the next batch: what a backend thread pays.
struct sweep_pass {
  std::uint64_t bytes = 0;
  double seconds = 0;      ///< from the first byte until flush() said that all is with the kernel; opening and closing are not in it
  double cpu_seconds = 0;  ///< of the whole process, the kernel's io_uring workers included
  std::vector<double> hand_over_us{};
};

/// Writes `bytes` to a new file and verifies them.
///
/// Errors: unavailable, if this machine has no such sink; std::runtime_error, if the file is not as it should be.
sweep_pass run_sweep_pass(const sweep_choice& choice, const std::filesystem::path& file, std::uint64_t bytes);

/// System calls for each MB handed over, in the steady state; none where they cannot be counted.
std::optional<double> system_calls_per_mb(const sweep_choice& choice, const std::filesystem::path& file);

}  // namespace penstock::bench
