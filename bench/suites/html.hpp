// SPDX-License-Identifier: MIT
// One self-contained page: tables, pictures, environment, and what the figures mean.
#pragma once

#include <string>
#include <vector>

#include "bench/suites/environment.hpp"
#include "bench/suites/suite.hpp"
#include "bench/suites/sweep_table.hpp"

namespace penstock::bench {

struct report {
  options chosen{};
  std::vector<fact> environment{};
  std::vector<suite_result> suites{};
  std::vector<std::string> pictures{};  ///< SVG texts, one for each suite, empty where there is none
  std::vector<sweep_row> sweep{};
  std::string logger_text{};  ///< what `bench logger` printed; empty: it is not in this build
  bool interrupted = false;
};

std::string html_escaped(std::string_view text);
std::string html_page(report& all);

}  // namespace penstock::bench
