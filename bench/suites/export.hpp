// SPDX-License-Identifier: MIT
// Results for other programs: CSV in ten columns, JSON with everything.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/suites/environment.hpp"
#include "bench/suites/suite.hpp"

namespace penstock::bench {

/// suite,case,size,clock,unit,median,min,max,repeats,source: one line for each figure, ending in LF.
std::string csv_text(const std::vector<suite_result>& results);
std::string json_text(const std::vector<suite_result>& results, const options& chosen, const std::vector<fact>& facts);

/// A text as a field of CSV: in quotes where it needs them (RFC 4180).
std::string csv_field(std::string_view text);

/// A string as a JSON literal, quotes included.
std::string json_string(std::string_view text);

/// A JSON array of what `text` makes of each item.
template <class Items, class Text>
std::string json_array(const Items& items, const char* separator, Text text) {
  std::string out = "[";
  for (const auto& item : items) out += (out.size() == 1 ? "" : separator) + text(item);
  return out + "]";
}

/// The member "environment" that every JSON of ours begins with.
std::string json_environment(const std::vector<fact>& facts);

/// Why no results can be written there, with the remedy; empty: they can, and nothing was changed. Asked before anything is measured.
std::string result_file_problem(const std::filesystem::path& file);

/// Writes a whole file.
///
/// Errors: std::system_error naming it; a full disk is told too.
void write_file(const std::filesystem::path& file, const std::string& text);

}  // namespace penstock::bench
