// SPDX-License-Identifier: MIT
#include "lib/config/pattern_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lib/config/units.hpp"

namespace penstock::detail {
namespace {

constexpr std::array<std::string_view, 9> field_names{"time", "level", "thread",   "process", "logger",
                                                      "file", "line",  "function", "message"};

// A wider field is a typing error far more often than a wish.
constexpr std::size_t width_digits_max = 3;

// The conversions of C's strftime, glibc's additions (k, l, P, s), and our %f and %N.
// Source: man 3 strftime.
constexpr std::string_view conversions = "aAbBcCdDeFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%fN";

constexpr bool is_align(char c) noexcept { return c == '<' || c == '>' || c == '^'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// How many bytes the character at the beginning of `text` has. The text is valid UTF-8 as far as TOML checked it.
std::size_t character_bytes(std::string_view text) noexcept {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t bytes = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  return std::min(bytes, text.size());
}

// strftime() gives nothing at all where its result does not fit; the backend's buffer holds any result of so short a format.
constexpr std::size_t time_format_bytes_max = 100;

/// Checks what follows "{time" and its alignment.
std::string strftime_problem(std::string_view format) {
  if (format.size() > time_format_bytes_max)
    return fmt::format("the time format of {} bytes is too long; at most {} are possible, put fixed text outside of the field",
                       format.size(), time_format_bytes_max);
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') continue;
    const std::size_t begin = i++;
    while (i < format.size() && std::string_view{"_-0^#"}.find(format[i]) != std::string_view::npos) ++i;
    const bool flags = i != begin + 1;
    const bool modifier = i < format.size() && (format[i] == 'E' || format[i] == 'O');
    if (modifier) ++i;
    if (i >= format.size())
      return fmt::format("the time format {} ends in the middle of a conversion; write \"%%\" for a percent sign", in_quotes(format));
    const bool known = conversions.find(format[i]) != std::string_view::npos;
    const bool ours = format[i] == 'f' || format[i] == 'N';
    if (known && !(ours && (flags || modifier))) continue;
    const std::string_view conversion = format.substr(begin, i - begin + 1);
    if (ours) return fmt::format("{} takes no flags; write \"%{}\"", in_quotes(conversion), format[i]);
    return fmt::format("{} is no strftime conversion; write \"%%\" for a percent sign, %f for microseconds, %N for nanoseconds",
                       in_quotes(conversion));
  }
  return {};
}

/// Checks what follows the colon of a field.
std::string spec_problem(std::string_view name, std::string_view spec) {
  std::string_view rest = spec;
  const std::size_t fill_bytes = rest.empty() ? 0 : character_bytes(rest);
  if (rest.size() > fill_bytes && is_align(rest[fill_bytes])) {
    rest.remove_prefix(fill_bytes + 1);
  } else if (!rest.empty() && is_align(rest.front())) {
    rest.remove_prefix(1);
  }
  const auto digits = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_digit) - rest.begin());
  if (digits > width_digits_max)
    return fmt::format("the width {} of {{{}}} is too large; 1 to 999 is possible", rest.substr(0, digits), name);
  if (digits > 0 && rest.front() == '0') {
    return fmt::format("the width of {{{}:{}}} begins with 0; write {{{}:0>{}}} to fill up with zeros", name, spec, name,
                       digits > 1 ? rest.substr(1, digits - 1) : "8");
  }
  rest.remove_prefix(digits);
  if (rest.empty()) return {};
  if (name == "time" && rest.front() == '%') return strftime_problem(rest);
  if (name == "time")
    return fmt::format("{} in {{time:{}}} is no time format; write one that begins with %, such as {{time:%H:%M:%S.%f}}", in_quotes(rest),
                       spec);
  return fmt::format("{} in {{{}:{}}} is not understood; a field takes a fill character, one of < > ^, and a width, such as {{{}:<8}}",
                     in_quotes(rest), name, spec, name);
}

std::string field_problem(std::string_view field) {
  const std::size_t colon = field.find(':');
  const std::string_view name = field.substr(0, colon);
  if (std::find(field_names.begin(), field_names.end(), name) == field_names.end()) {
    const std::string_view near = nearest(name, field_names);
    if (!near.empty()) return fmt::format("unknown field {{{}}}; did you mean {{{}}}?", name, near);
    return fmt::format("unknown field {{{}}}; the fields are {}, and \"{{{{\" and \"}}}}\" are braces", name, list_text(field_names));
  }
  return colon == std::string_view::npos ? std::string{} : spec_problem(name, field.substr(colon + 1));
}

}  // namespace

std::optional<pattern_problem> check_pattern(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '{' && c != '}') continue;
    if (i + 1 < pattern.size() && pattern[i + 1] == c) {
      ++i;
      continue;
    }
    if (c == '}') return pattern_problem{i, fmt::format("a \"}}\" without its \"{{\" at byte {}; write \"}}}}\" for a brace", i + 1)};
    const std::size_t end = pattern.find_first_of("{}", i + 1);
    if (end == std::string_view::npos || pattern[end] == '{')
      return pattern_problem{i, fmt::format("a \"{{\" without its \"}}\" at byte {}; write \"{{{{\" for a brace", i + 1)};
    std::string problem = field_problem(pattern.substr(i + 1, end - i - 1));
    if (!problem.empty()) return pattern_problem{i, std::move(problem)};
    i = end;
  }
  return std::nullopt;
}

}  // namespace penstock::detail
