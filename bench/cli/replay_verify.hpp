// SPDX-License-Identifier: MIT
// Reads an output back and compares it with what was sent: byte for byte after one thread, line by line in any order after several, since
// these send whole files at the same time.
#pragma once

#include <deque>
#include <string>

#include "bench/cli/replay_input.hpp"
#include "bench/cli/replay_plan.hpp"

namespace penstock::cli {

struct verify_result {
  bool same = false;
  std::string text{};  ///< what was compared, or the first difference
};

/// Errors: what reading throws, naming the file.
verify_result verify_output(const verified_output& output, const replay_call& call, const std::deque<log_file>& logs);

}  // namespace penstock::cli
