// SPDX-License-Identifier: MIT
#include "bench/suites/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace penstock::bench {
namespace {

// The rank (from 0) of the lower end of the interval for the median: the largest that leaves at most 3.5 % of the binomial distribution
// below it. Five passes give rank 0 and 93.75 %.
std::size_t interval_rank(std::size_t n) {
  double term = std::pow(0.5, static_cast<double>(n));
  double below = term;
  std::size_t rank = 0;
  for (std::size_t i = 1; i <= n / 2; ++i) {
    term *= static_cast<double>(n - i + 1) / static_cast<double>(i);
    below += term;
    if (below > 0.035) break;
    rank = i;
  }
  return rank;
}

}  // namespace

summary summarise(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const std::size_t rank = interval_rank(n);
  const double median = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  return {.median = median, .min = values.front(), .max = values.back(), .low = values[rank], .high = values[n - 1 - rank], .repeats = n};
}

double percentile(const std::vector<double>& sorted, double fraction) noexcept {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size())));
  return sorted[std::min(sorted.size(), std::max<std::size_t>(rank, 1)) - 1];
}

std::string range_text(double least, double greatest) { return fmt::format("({}-{})", three_digits(least), three_digits(greatest)); }

std::string three_digits(double value) {
  if (value == 0) return "0";
  const auto magnitude = [](double of) { return static_cast<int>(std::floor(std::log10(std::fabs(of)))); };
  const double scale = std::pow(10.0, magnitude(value) - 2);
  const double rounded = std::round(value / scale) * scale;
  // Rounding may have made it one digit longer.
  return fmt::format("{:.{}f}", rounded, std::clamp(2 - magnitude(rounded), 0, 6));
}

}  // namespace penstock::bench
