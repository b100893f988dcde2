// SPDX-License-Identifier: MIT
#include "lib/config/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <vector>

namespace penstock::detail {
namespace {

struct unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<unit, 5> size_units{{{"B", 1},
                                          {"KiB", std::uint64_t{1} << 10},
                                          {"MiB", std::uint64_t{1} << 20},
                                          {"GiB", std::uint64_t{1} << 30},
                                          {"TiB", std::uint64_t{1} << 40}}};

constexpr std::array<unit, 7> duration_units{{{"ns", 1},
                                              {"us", 1'000},
                                              {"ms", 1'000'000},
                                              {"s", 1'000'000'000},
                                              {"min", 60'000'000'000},
                                              {"h", 3'600'000'000'000},
                                              {"d", 86'400'000'000'000}}};

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

struct quantity {
  std::string_view digits;
  std::string_view unit_name;
};

/// Divides "256 KiB" into its number and its unit; either may come out empty.
quantity divide(std::string_view text) {
  const auto* const end_of_digits = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto digits_count = static_cast<std::size_t>(end_of_digits - text.begin());
  std::string_view rest = text.substr(digits_count);
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  return {text.substr(0, digits_count), rest};
}

struct habit {
  std::string_view written;  // in lower case
  std::string_view unit_name;
};

// What people write from habit, and the unit that they mean.
constexpr std::array<habit, 38> habits{{
    {"b", "B"},     {"byte", "B"},   {"bytes", "B"},   {"k", "KiB"},      {"kb", "KiB"},     {"kib", "KiB"},    {"m", "MiB"},
    {"mb", "MiB"},  {"mib", "MiB"},  {"g", "GiB"},     {"gb", "GiB"},     {"gib", "GiB"},    {"t", "TiB"},      {"tb", "TiB"},
    {"tib", "TiB"}, {"nsec", "ns"},  {"usec", "us"},   {"\u00b5s", "us"}, {"\u03bcs", "us"}, {"msec", "ms"},    {"sec", "s"},
    {"secs", "s"},  {"second", "s"}, {"seconds", "s"}, {"m", "min"},      {"mins", "min"},   {"minute", "min"}, {"minutes", "min"},
    {"hr", "h"},    {"hrs", "h"},    {"hour", "h"},    {"hours", "h"},    {"day", "d"},      {"days", "d"},     {"ns", "ns"},
    {"us", "us"},   {"ms", "ms"},    {"s", "s"},
}};

/// The unit among `units` that somebody who wrote `name` most likely meant; empty: no idea.
std::string_view likely_unit(std::string_view name, std::span<const unit> units) {
  std::string lower{name};
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const habit& candidate : habits) {
    if (candidate.written != lower) continue;
    const bool here = std::any_of(units.begin(), units.end(), [&](const unit& u) { return u.name == candidate.unit_name; });
    if (here) return candidate.unit_name;
  }
  return {};
}

struct wording {
  std::string_view thing;       // "a size"
  std::string_view example;     // "256 KiB"
  std::string_view plain_unit;  // what a number without a unit most likely means
};

parsed<std::uint64_t> parse(std::string_view text, std::span<const unit> units, wording words) {
  const quantity written = divide(text);
  const std::string_view digits = written.digits;
  const std::string_view unit_name = written.unit_name;
  const auto* const found = std::find_if(units.data(), units.data() + units.size(), [&](const unit& u) { return u.name == unit_name; });
  if (digits.empty() || found == units.data() + units.size()) {
    std::vector<std::string_view> names;
    std::transform(units.begin(), units.end(), std::back_inserter(names), [](const unit& u) { return u.name; });
    const std::string_view likely = unit_name.empty() ? words.plain_unit : likely_unit(unit_name, units);
    std::string remedy = digits.empty() || likely.empty()
                             ? fmt::format("write a whole number and one of {}, such as \"{}\"", list_text(names), words.example)
                             : fmt::format("try \"{} {}\" (units: {})", digits, likely, list_text(names));
    return {0, fmt::format("{} is not {}; {}", in_quotes(text), words.thing, remedy)};
  }
  std::uint64_t number = 0;
  for (const char c : digits) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (__builtin_mul_overflow(number, std::uint64_t{10}, &number) || __builtin_add_overflow(number, digit, &number))
      return {0, fmt::format("{} is too large a number", in_quotes(text))};
  }
  std::uint64_t value = 0;
  if (__builtin_mul_overflow(number, found->factor, &value) || value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    return {0, fmt::format("{} is too large a number", in_quotes(text))};
  return {value, {}};
}

std::string text_of(std::uint64_t value, std::span<const unit> units, std::string_view unit_of_zero) {
  if (value == 0) return fmt::format("0 {}", unit_of_zero);
  const unit* best = units.data();
  for (const unit& candidate : units)
    if (value % candidate.factor == 0) best = &candidate;
  return fmt::format("{} {}", value / best->factor, best->name);
}

}  // namespace

parsed<std::uint64_t> parse_size(std::string_view text) { return parse(text, size_units, {"a size", "256 KiB", "B"}); }

parsed<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  auto [value, problem] = parse(text, duration_units, {"a duration", "20 ms", "ms"});
  return {std::chrono::nanoseconds{static_cast<std::int64_t>(value)}, std::move(problem)};
}

std::string size_text(std::uint64_t bytes) { return text_of(bytes, size_units, "B"); }

std::string duration_text(std::chrono::nanoseconds value) {
  const auto ns = static_cast<std::uint64_t>(value.count());
  return value.count() < 0 ? fmt::format("-{}", text_of(0 - ns, duration_units, "ms")) : text_of(ns, duration_units, "ms");
}

std::size_t edit_distance(std::string_view one, std::string_view other) {
  // Longer words are never near a valid one; the bound keeps a hostile file from costing the square of its length.
  constexpr std::size_t letters_max = 64;
  if (one.size() > letters_max || other.size() > letters_max) return std::max(one.size(), other.size());
  std::array<std::array<std::size_t, letters_max + 1>, letters_max + 1> cost{};
  for (std::size_t i = 0; i <= one.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= other.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = cost[i - 1][j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[one.size()][other.size()];
}

std::string_view nearest(std::string_view text, std::span<const std::string_view> words) {
  std::string_view best;
  std::size_t best_cost = 0;
  for (const std::string_view word : words) {
    const std::size_t cost = edit_distance(text, word);
    // Half of the letters wrong is another word, unless the shorter one is the beginning of the longer ("warn").
    const bool beginning = !text.empty() && (word.starts_with(text) || text.starts_with(word));
    if (!beginning && cost > std::max(text.size(), word.size()) / 2) continue;
    if (best.empty() || cost < best_cost) {
      best = word;
      best_cost = cost;
    }
  }
  return best;
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  return out += '"';
}

std::string list_text(std::span<const std::string_view> words) { return fmt::format("{}", fmt::join(words.begin(), words.end(), ", ")); }

}  // namespace penstock::detail
