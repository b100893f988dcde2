// SPDX-License-Identifier: MIT
// Pictures by gnuplot, which is looked for when it is needed.
#pragma once

#include <filesystem>
#include <string>

#include "bench/suites/suite.hpp"

namespace penstock::bench {

/// Throws std::runtime_error if there is no gnuplot: what to install.
void require_gnuplot();

/// Rows downwards, the figure of the `close` clock to the right, a mark of its own shape for each size, bars from least to greatest.
std::string picture_script(const suite_result& result, const std::filesystem::path& svg);

/// Where the script stands while gnuplot draws `svg`.
std::filesystem::path script_beside(const std::filesystem::path& svg);

/// Draws the picture of a suite.
///
/// Errors: std::runtime_error with what gnuplot said.
void draw(const suite_result& result, const std::filesystem::path& svg);

/// Runs a gnuplot script that draws `svg`.
void run_gnuplot(const std::string& script, const std::filesystem::path& svg);

}  // namespace penstock::bench
