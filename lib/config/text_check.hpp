// SPDX-License-Identifier: MIT
// Keeps away from toml++ what it does not survive. Its tables are destroyed recursively, so that one line "a.a.a.…" of 100,000 dots would
// overflow the stack of whoever loads the file; and letters such as "ä" outside of quotes run its 3.3 into __builtin_unreachable.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "lib/config/document.hpp"

namespace penstock::detail {

/// How many dots and brackets one statement may hold outside of its strings. A config needs about ten.
inline constexpr std::size_t nesting_max = 250;

/// What is wrong with a text before its grammar is looked at.
struct text_fault {
  position at;
  std::string text;  ///< what is wrong, and the remedy
};

/// Looks for a statement that nests deeper than `nesting_max` (or is never closed and goes on as long), and for a character that TOML
/// allows within quotes and comments only.
std::optional<text_fault> check_text(std::string_view text);

}  // namespace penstock::detail
