// SPDX-License-Identifier: MIT
// What rotation costs those who log: threads log as fast as they can, for a while, once to a file that stays and once to one that is closed
// about a thousand times a second.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace penstock::bench {

struct rotation_options {
  std::vector<std::string> sinks{"write", "pwrite", "io_uring", "stdio"};
  std::filesystem::path dir = ".";
  std::size_t threads = 4;
  std::size_t repeat = 5;
  std::uint32_t milliseconds = 1000;  ///< of each run
  double files_per_second = 1000;     ///< aimed at, by the rate of the run before without rotation
};

/// One run.
struct rotation_run {
  double records_per_second = 0;
  double mb_per_second = 0;
  double files_per_second = 0;
  double longest_call_us = 0;
  double p9999_us = 0;            ///< one call in ten thousand is longer
  std::uint64_t wrong_count = 0;  ///< records that are not in the files exactly once, whole, in their thread's order
};

struct rotation_row {
  std::string sink;
  std::vector<rotation_run> without{};
  std::vector<rotation_run> with{};
  std::string refusal{};  ///< why the sink cannot be had here; empty: it can
};

/// In turn: each sink without and with rotation, then the next; as often as asked for.
///
/// Errors: std::system_error for the folder; a sink that cannot be had is told in its row. An interrupt ends it after the run that is under
/// way.
std::vector<rotation_row> run_rotation_bench(const rotation_options& chosen);

std::string rotation_table_text(const std::vector<rotation_row>& rows);

}  // namespace penstock::bench
