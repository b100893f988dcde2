// SPDX-License-Identifier: MIT
// What a suite's figures mean on the machine that gave them: two sentences, made from the figures alone.
#pragma once

#include <string>
#include <vector>

#include "bench/suites/suite.hpp"
#include "bench/suites/sweep_table.hpp"

namespace penstock::bench {

/// Two sentences; a sentence whose figures are missing says so.
std::vector<std::string> meaning_of(const suite_result& result);
std::vector<std::string> meaning_of(const std::vector<sweep_row>& rows);

}  // namespace penstock::bench
