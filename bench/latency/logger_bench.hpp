// SPDX-License-Identifier: MIT
// Runs every logger on every workload, in turn, and keeps what each run gave.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/latency/contender.hpp"
#include "bench/latency/workload.hpp"
#include "bench/suites/statistics.hpp"

namespace penstock::bench {

struct logger_bench_options {
  workload_options work{};
  std::vector<std::string> modes{"auto", "caller", "backend"};
  std::vector<std::string> loggers{};  ///< empty: all that are found
  std::size_t repeat = 5;
  std::filesystem::path dir = ".";
};

/// One logger's runs of one workload.
struct logger_row {
  workload work{};
  contender who{};
  std::vector<run_figures> runs{};
  std::vector<std::string> problems{};  ///< of runs that gave nothing

  /// Of a figure over all runs; nothing if no run has it.
  std::optional<summary> of(std::string_view figure) const;
  /// Over all runs.
  double total(std::string_view figure) const;
  bool ours() const noexcept { return who.id == "penstock"; }
};

struct logger_result {
  std::vector<contender> contenders{};
  std::vector<logger_row> rows{};  ///< by workload, then by logger
  std::vector<std::string> notes{};
  bool interrupted = false;

  /// False: a run gave nothing, or Penstock lost, changed, repeated or reordered a line. What another logger does to its lines is a
  /// finding.
  bool good() const;
};

/// Errors: std::invalid_argument for names that do not exist; std::runtime_error without room on the disk.
logger_result run_logger_bench(const logger_bench_options& chosen);

}  // namespace penstock::bench
