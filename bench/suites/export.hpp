// SPDX-License-Identifier: MIT
// Results for other programs: CSV in ten columns, JSON with everything.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/suites/environment.hpp"
#include "bench/suites/suite.hpp"

namespace penstock::bench {

/// suite,case,size,clock,unit,median,min,max,repeats,source: one line for each figure, ending in LF.
std::string csv_text(const std::vector<suite_result>& results);
std::string json_text(const std::vector<suite_result>& results, const options& chosen, const std::vector<fact>& facts);

/// A string as a JSON literal, quotes included.
std::string json_string(std::string_view text);

/// Writes a whole file.
///
/// Errors: std::system_error naming it; a full disk is told too.
void write_file(const std::filesystem::path& file, const std::string& text);

}  // namespace penstock::bench
