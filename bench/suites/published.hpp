// SPDX-License-Identifier: MIT
// The figures that the posts published, built into the tool from bench/data/*.csv.
#pragma once

#include <string_view>
#include <vector>

#include "bench/suites/suite.hpp"

namespace penstock::bench {

struct embedded_file {
  std::string_view name;  ///< "japm"
  std::string_view text;
};

/// Made at build time.
const std::vector<embedded_file>& embedded_files();

/// One row for each case, size and machine; several runs on one machine become their median, least and greatest.
std::vector<figures> published_figures(const suite& what);

/// The fields of a CSV line, quotes removed.
std::vector<std::string> csv_fields(std::string_view line);

}  // namespace penstock::bench
