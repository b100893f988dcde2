// SPDX-License-Identifier: MIT
// Keeps hostile nesting away from toml++: its tables are destroyed recursively, so that one line "a.a.a.…" of 100,000 dots would overflow
// the stack of whoever loads the file.
#pragma once

#include <optional>
#include <string_view>

#include "lib/config/document.hpp"

namespace penstock::detail {

/// How many dots and brackets one statement may hold outside of its strings. A config needs about ten.
inline constexpr std::size_t nesting_max = 250;

/// Where a statement begins that nests deeper than `nesting_max`, or is never closed and goes on as long; none: there is none.
std::optional<position> find_deep_nesting(std::string_view text);

}  // namespace penstock::detail
