// SPDX-License-Identifier: MIT
// Medians, and whether they can be trusted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace penstock::bench {

/// What the passes of one cell say. `low` and `high` bound the median of all possible passes with about 95 % confidence (order statistics;
/// with five passes or fewer they are the extremes).
struct summary {
  double median = 0;
  double min = 0;
  double max = 0;
  double low = 0;
  double high = 0;
  std::size_t repeats = 0;

  /// False: another run may well give a median that is more than 15 % away.
  bool trusted() const noexcept { return repeats >= 3 && (high - low) <= trusted_spread * median; }
  static constexpr double trusted_spread = 0.15;
};

/// Of at least one value.
summary summarise(std::vector<double> values);

/// The value below which `fraction` of the sorted values lie (nearest rank).
double percentile(const std::vector<double>& sorted, double fraction) noexcept;

/// The least and the greatest, for a table: "(1.23-4.56)".
std::string range_text(double least, double greatest);

/// Three significant digits, never in scientific notation: "0.0123", "1.23", "12.3", "1230".
std::string three_digits(double value);

}  // namespace penstock::bench
