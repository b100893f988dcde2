// SPDX-License-Identifier: MIT
#include "lib/config/nesting_check.hpp"

namespace penstock::detail {
namespace {

/// Where the string that begins at `begin` ends: one past its closing quote, or the end of the line or text where it is not closed.
std::size_t skip_string(std::string_view text, std::size_t begin) {
  const char quote = text[begin];
  const bool basic = quote == '"';
  const bool multi_line = text.substr(begin, 3) == (basic ? "\"\"\"" : "'''");
  std::size_t i = begin + (multi_line ? 3 : 1);
  while (i < text.size()) {
    if (basic && text[i] == '\\') {
      i += 2;
    } else if (text[i] == quote && (!multi_line || text.substr(i, 3) == text.substr(begin, 3))) {
      return i + (multi_line ? 3 : 1);
    } else if (text[i] == '\n' && !multi_line) {
      return i;
    } else {
      ++i;
    }
  }
  return text.size();
}

}  // namespace

std::optional<position> find_deep_nesting(std::string_view text) {
  position statement{1, 1};
  std::uint32_t line = 1;
  std::size_t open_count = 0;
  std::size_t nesting_count = 0;
  std::size_t i = 0;
  while (i < text.size()) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      const std::size_t end = skip_string(text, i);
      for (; i < end; ++i) line += text[i] == '\n' ? 1U : 0U;
      continue;
    }
    if (c == '#') {
      i = text.find('\n', i);
      if (i == std::string_view::npos) break;
      continue;
    }
    if (c == '\n') {
      ++line;
      if (open_count == 0) {
        nesting_count = 0;
        statement = {line, 1};
      }
    }
    const bool opens = c == '[' || c == '{';
    if (opens) ++open_count;
    if ((c == ']' || c == '}') && open_count > 0) --open_count;
    if ((opens || c == '.') && ++nesting_count > nesting_max) return statement;
    ++i;
  }
  return std::nullopt;
}

}  // namespace penstock::detail
