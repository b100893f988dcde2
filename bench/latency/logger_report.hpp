// SPDX-License-Identifier: MIT
// The results of `bench logger` for people and for other programs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/latency/logger_bench.hpp"
#include "bench/suites/environment.hpp"

namespace penstock::bench {

/// A block of rows for each workload, with the columns that it has.
std::string logger_table_text(const logger_result& result);
/// Runs that gave nothing, lines that were lost, and what else a reader must know.
std::vector<std::string> logger_remarks(const logger_result& result);

/// The ten columns of every suite; `size` is the workload.
std::string logger_csv_text(const logger_result& result);
/// Each run of each row with all its figures.
std::string logger_json_text(const logger_result& result, const std::vector<fact>& facts);
/// A panel for throughput, latency and long records each, as far as they were run.
std::string logger_picture_script(const logger_result& result, const std::filesystem::path& svg);

}  // namespace penstock::bench
