// SPDX-License-Identifier: MIT
// `bench sinks --limits`: how near the sinks come to what the machine can do. Every figure is a ratio of two loops that ran in turn, so
// that it survives a disk that drifts and a machine that is not this one. The ratios are numbered from 1 to 19, some in several parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/suites/environment.hpp"
#include "bench/suites/limit_loops.hpp"
#include "bench/suites/statistics.hpp"

namespace penstock::bench {

inline constexpr int limit_count = 19;

struct limit_options {
  std::filesystem::path dir = ".";
  int repeat = 5;                                  ///< valid pairs of each ratio
  std::uint64_t bytes = std::uint64_t{256} << 20;  ///< of most passes; some loops take a multiple (docs/benchmarks.md)
  std::set<int> rows{};                            ///< the numbers wanted; empty: all
  bool smoke = false;                              ///< checks the loops, measures nothing of interest
};

/// What a ratio should be.
struct limit_target {
  double value = 0;
  bool at_most = false;

  bool met_by(double ratio) const noexcept { return at_most ? ratio <= value : ratio >= value; }
};

/// One line of the table.
struct limit_ratio {
  int number = 0;
  std::string what{};
  std::optional<limit_target> target{};  ///< none: it stands there to be read
  /// From one run of each loop of its experiment, in their order. None: a ratio that no sink has; `reason` says why.
  std::function<double(const std::vector<loop_run>&)> from{};
  std::string reason{};
  std::string unit{};  ///< "MiB" where it is no ratio
};

/// Loops that run in turn, and the ratios that come of them.
struct limit_experiment {
  struct named_loop {
    std::string name;
    loop run;
  };
  std::vector<named_loop> loops{};
  std::vector<limit_ratio> ratios{};
  /// Looks, once and before the loops, whether this machine has what they need.
  ///
  /// Errors: unavailable.
  std::function<void()> prepare{};
  /// Why these runs count for nothing; empty: they count.
  std::function<std::string(const std::vector<loop_run>&)> invalid{};
};

enum class limit_verdict { met, missed, no_target, not_measurable };
std::string_view text(limit_verdict verdict) noexcept;

struct limit_line {
  limit_ratio ratio;
  std::vector<double> values{};
  std::size_t discarded = 0;
  std::string discarded_because{};  ///< of the last one

  limit_verdict verdict() const;
};

/// What one loop did, over all its runs.
struct limit_loop_line {
  std::string name;
  std::vector<double> bytes_per_second{};
  std::vector<double> thread_cpu_per_gb{};
  std::vector<double> process_cpu_per_gb{};
  std::vector<double> call_p50_us{};  ///< of each run, as the next
  std::vector<double> call_p999_us{};
};

struct limits_result {
  std::vector<limit_line> lines{};       ///< by number
  std::vector<limit_loop_line> loops{};  ///< in the order in which they first ran
  std::vector<std::string> failures{};   ///< what must not happen: a file that is not what was written
  bool interrupted = false;
};

/// Runs experiments: each until it has `repeat` valid pairs, at most twice as often; every second time in reverse order.
limits_result run_experiments(const std::vector<limit_experiment>& experiments, int repeat);

/// The experiments of the wanted rows, on `file`.
std::vector<limit_experiment> limit_experiments(const limit_options& chosen, const std::filesystem::path& file);

/// Measures in a new folder inside `chosen.dir`, which is removed again.
///
/// Errors: std::runtime_error, if there is not enough room; std::system_error.
limits_result run_limits(const limit_options& chosen);

/// "1-5,7" as numbers.
///
/// Errors: std::invalid_argument, whose text says what is wrong.
std::set<int> limit_rows(std::string_view words);

std::string limits_text(const limits_result& result);
std::string limits_csv(const limits_result& result);
std::string limits_json(const limits_result& result, const limit_options& chosen, const std::vector<fact>& facts);

}  // namespace penstock::bench
