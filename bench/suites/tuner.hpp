// SPDX-License-Identifier: MIT
// Chooses the sink and batch size that suit a folder, within a given time: many candidates measured briefly, the better half longer, and so
// on (successive halving), passes interleaved so that a drifting disk does not favour anyone.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <penstock/config.hpp>

#include "bench/suites/sink_sweep.hpp"
#include "bench/suites/statistics.hpp"

namespace penstock::bench {

struct tune_options {
  std::filesystem::path dir = ".";
  std::chrono::duration<double> time{20};
  page_cache_policy cache = page_cache_policy::keep;
  std::uint64_t pass_bytes = std::uint64_t{128} << 20;
};

struct candidate {
  sweep_choice choice{};
  std::vector<double> mb_per_s{};
  std::vector<double> cpu_s_per_gb{};
  std::vector<double> hand_over_us{};

  double rate() const { return mb_per_s.empty() ? 0 : summarise(mb_per_s).median; }
  double cpu() const { return cpu_s_per_gb.empty() ? 0 : summarise(cpu_s_per_gb).median; }
};

struct tuning {
  std::vector<candidate> ranking{};  ///< best first
  candidate chosen{};
  std::vector<std::string> notes{};  ///< what could not be measured, and why
  double sync_ms = 0;                ///< fdatasync after one batch of the chosen size, median
  double ring_mb_per_s = 0;          ///< of an mmap_ring, for comparison; 0: there is none
  bool interrupted = false;
};

/// The rates within this fraction of the best are taken for equal; among them the cheapest for the CPU wins.
inline constexpr double equal_rates = 0.02;

/// The candidate to recommend. `ranking` is not empty.
const candidate& choose(const std::vector<candidate>& ranking);

/// The candidates that keep the whole log: the ring, which keeps its end only, is no rival of the others.
std::vector<candidate> tune_candidates(page_cache_policy cache);

/// One measured pass; run_sweep_pass(), or a test's stand-in.
using measure_pass = std::function<sweep_pass(const sweep_choice&)>;

/// Runs the candidates until the time is used up. At least one pass each.
///
/// Errors: std::runtime_error, if no candidate works.
tuning tune(std::vector<candidate> candidates, std::chrono::duration<double> time, const measure_pass& measure,
            const std::function<std::chrono::duration<double>()>& elapsed);

/// The whole of `penstock tune` apart from printing.
tuning tune_folder(const tune_options& chosen);

/// The `[sinks.app]` table with its reasons in comments: TOML that `penstock config --check` accepts.
std::string tuning_toml(const tuning& result, const tune_options& chosen);

}  // namespace penstock::bench
