// SPDX-License-Identifier: MIT
#include "lib/config/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include <penstock/base/error.hpp>

#include "lib/config/text_check.hpp"
#include "lib/config/units.hpp"

// The header-only form: a program that links libpenstock needs no libtomlplusplus beside it.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
// Some malformed files reach an assertion of toml++ 3.3, such as a table header that begins with a dot. Without NDEBUG that would end the
// program, with NDEBUG it is an assumption that the optimiser of clang may build on. A bad file is never worth either: it is refused.
#undef NDEBUG
namespace penstock::detail {
namespace {
struct assertion_failed {};
[[noreturn]] void fail_assertion() { throw assertion_failed{}; }
}  // namespace
}  // namespace penstock::detail
#define TOML_ASSERT(expression) ((expression) ? static_cast<void>(0) : ::penstock::detail::fail_assertion())
// A program may use toml++ itself, of another version or with other settings: in a static link its functions must not replace these.
#define toml penstock_toml
#include <toml++/toml.h>

namespace penstock::detail {
namespace {

position position_of(const toml::source_region& region) {
  return {static_cast<std::uint32_t>(region.begin.line), static_cast<std::uint32_t>(region.begin.column)};
}

/// Recursion is bounded by nesting_max and by toml++'s own limit of 256 nested values.
node copy(const toml::node& from) {
  node to;
  to.at = position_of(from.source());
  if (const auto* table = from.as_table()) {
    to.kind = node_kind::table;
    for (const auto& [key, value] : *table) {
      node& child = to.children.emplace_back(copy(value));
      child.key = std::string{key.str()};
      child.key_at = position_of(key.source());
    }
  } else if (const auto* array = from.as_array()) {
    to.kind = node_kind::array;
    for (const auto& value : *array) to.children.push_back(copy(value));
  } else if (const auto* string = from.as_string()) {
    to.kind = node_kind::string;
    to.string = string->get();
  } else if (const auto* integer = from.as_integer()) {
    to.kind = node_kind::integer;
    to.integer = integer->get();
  } else if (const auto* boolean = from.as_boolean()) {
    to.kind = node_kind::boolean;
    to.boolean = boolean->get();
  } else {
    to.kind = from.is_floating_point() ? node_kind::real : node_kind::date_time;
  }
  return to;
}

/// The bytes of a line from a column on. Columns count code points, which is the same up to the first of another alphabet.
std::string_view rest_of_line(std::string_view text, position at) {
  for (std::uint32_t line = 1; line < at.line; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  const std::string_view line = text.substr(0, text.find('\n'));
  std::size_t begin = 0;
  for (std::uint32_t column = 1; column < at.column && begin < line.size(); ++begin)
    if (begin + 1 >= line.size() || (static_cast<unsigned char>(line[begin + 1]) & 0xc0U) != 0x80U) ++column;
  return line.substr(begin);
}

std::string syntax_message(std::string_view text, std::string_view source_name, position at, std::string_view description) {
  const std::string_view rest = rest_of_line(text, at);
  const bool at_end = rest.empty() || rest == "\r";
  if (at_end && description.starts_with("Error while parsing string: unescaped control"))
    return fmt::format("{}:{}:{}: the string is not closed on its line; add the missing quote", source_name, at.line, at.column);
  if (description.find("cannot redefine") != std::string_view::npos)
    return fmt::format("{}:{}:{}: this is given twice: {}; remove one of the two", source_name, at.line, at.column, description);
  return fmt::format("{}:{}:{}: this is not TOML: {}; check quotes, brackets and = up to this place", source_name, at.line, at.column,
                     description);
}

/// Whether toml++ comes upon one of its assertions in this text.
bool fails_assertion(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error&) {
  } catch (const assertion_failed&) {
    return true;
  }
  return false;
}

/// The line in which toml++ comes upon its assertion: the last line of the shortest beginning of the text that fails like all of it.
std::size_t assertion_line(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') ends.push_back(i + 1);
  const auto found = std::partition_point(ends.begin(), ends.end(), [&](std::size_t end) { return !fails_assertion(text.substr(0, end)); });
  return static_cast<std::size_t>(found - ends.begin()) + 1;
}

}  // namespace

node read_document(std::string_view text, std::string_view source_name) {
  if (text.size() > document_bytes_max) {
    throw config_error(fmt::format("{}:1:1: the file is larger than {}, which no config needs; check that it is the right file",
                                   source_name, size_text(document_bytes_max)));
  }
  if (const auto fault = check_text(text))
    throw config_error(fmt::format("{}:{}:{}: {}", source_name, fault->at.line, fault->at.column, fault->text));
  try {
    return copy(toml::parse(text, source_name));
  } catch (const toml::parse_error& error) {
    throw config_error(syntax_message(text, source_name, position_of(error.source()), error.description()));
  } catch (const assertion_failed&) {
    throw config_error(
        fmt::format("{}:{}:1: this is not TOML; check quotes, brackets and dots in this line", source_name, assertion_line(text)));
  }
}

}  // namespace penstock::detail
