// SPDX-License-Identifier: MIT
// A TOML text as a plain tree. It stands between toml++, which only document.cpp sees because it costs seconds to compile, and everything
// that gives the tree a meaning.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::detail {

/// A place in the text; lines and columns start at 1, line 0 stands for "nowhere".
struct position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  friend auto operator<=>(const position&, const position&) = default;
};

enum class node_kind : std::uint8_t { string, integer, real, boolean, date_time, array, table };

/// A value, and the key that it stands under. Only the member that `kind` names means anything.
struct node {
  std::string key{};
  position key_at{};
  position at{};
  node_kind kind = node_kind::table;
  std::string string{};
  std::int64_t integer = 0;
  bool boolean = false;
  std::vector<node> children{};  ///< of an array or a table; a table's in the order of their keys
};

/// The longest text that is read. A thousand sinks need a tenth of it; more is the wrong file.
inline constexpr std::size_t document_bytes_max = std::size_t{1} << 20;

/// Reads TOML.
///
/// Errors: config_error, "source_name:line:column: …", where the text is not TOML, too long, or nested too deep for any config.
node read_document(std::string_view text, std::string_view source_name);

}  // namespace penstock::detail
