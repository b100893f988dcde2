// SPDX-License-Identifier: MIT
// What a sweep over the sinks gave, as a table and as CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/suites/sink_sweep.hpp"
#include "bench/suites/statistics.hpp"
#include "bench/suites/table.hpp"

namespace penstock::bench {

struct sweep_row {
  sweep_choice choice{};
  std::size_t passes = 0;
  std::vector<double> mb_per_s{};
  std::vector<double> cpu_s_per_gb{};
  std::vector<double> hand_over_us{};  ///< of all passes together
  std::optional<double> calls_per_mb{};
  std::string problem{};  ///< why there is nothing, or nothing more
};

void add_pass(sweep_row& row, const sweep_pass& pass);
std::string sweep_text(std::vector<sweep_row>& rows);
std::string sweep_csv(std::vector<sweep_row>& rows);

}  // namespace penstock::bench
