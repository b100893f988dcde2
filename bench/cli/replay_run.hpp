// SPDX-License-Identifier: MIT
// Sends the lines: threads take whole files in turn, as often as the call says.
#pragma once

#include <cstdint>
#include <deque>

#include <penstock/stats.hpp>

#include "bench/cli/replay_input.hpp"
#include "bench/cli/replay_plan.hpp"

namespace penstock::cli {

struct replay_result {
  std::uint64_t sent_lines = 0;
  std::uint64_t sent_bytes = 0;  ///< newlines included
  double returned_seconds = 0;   ///< until the last call returned
  double written_seconds = 0;    ///< until all lines were with the kernel
  bool flushed = false;
  bool stopped = false;
  bool interrupted = false;
  std::uint64_t dropped_lines = 0;    ///< before the backend took them
  std::uint64_t cut_short_lines = 0;  ///< longer than a record may be
  stats_snapshot stats{};             ///< after the last line was written
};

/// Starts the logger, sends, flushes, stops.
///
/// Errors: what start() throws; std::runtime_error if a log file was truncated meanwhile.
replay_result run_replay(const replay_call& call, const replay_plan& plan, const std::deque<log_file>& logs);

}  // namespace penstock::cli
