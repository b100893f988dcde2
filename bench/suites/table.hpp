// SPDX-License-Identifier: MIT
// Plain text tables: what a terminal shows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/suites/environment.hpp"
#include "bench/suites/suite.hpp"

namespace penstock::bench {

/// Columns that a terminal needs for UTF-8 text; Korean syllables take two.
std::size_t display_width(std::string_view text) noexcept;
std::string padded(std::string_view text, std::size_t width);

/// Lines up rows of cells: the first column to the left, the others to the right. A row of one cell is a heading of its own.
std::string aligned(const std::vector<std::vector<std::string>>& rows);

/// The unit and scale in which a figure is shown: bytes/s as MB/s, everything else as it is.
std::string shown_unit(const std::string& unit);
double shown_value(const figures& row, double value);

/// "1.23 (1.20-1.31)", with a tilde where the median cannot be trusted.
std::string cell_text(const figures& row);

/// One table of the post for each clock: rows by sizes.
std::string tables_text(const suite_result& result);
/// The table of one clock as rows of cells, headings included; empty if nothing was measured by it.
std::vector<std::vector<std::string>> table_of(const suite_result& result, clock_kind clock);

/// "bench japm: new file, sync none, cache warm" and the like: what stands above every table.
std::string heading_text(const suite_result& result, const options& chosen);
std::string environment_text(const std::vector<fact>& facts);
/// What a reader must know before believing a figure: notes, rows that are missing, medians that move.
std::vector<std::string> remarks(const suite_result& result);

}  // namespace penstock::bench
