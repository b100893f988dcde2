// SPDX-License-Identifier: MIT
// Whether text can stand in a line as it is, known while compiling for most of it: numbers and the literal parts of formats. Only strings
// are looked at when they are laid out, so that no finished line is read again.
#pragma once

#include <cstddef>
#include <string_view>

#include <penstock/base/export.hpp>

namespace penstock::detail {

/// Whether every byte is printable ASCII or a space. 16 bytes a step.
PENSTOCK_EXPORT bool is_printable(const char* text, std::size_t bytes) noexcept;

/// The same, for what is known while compiling.
constexpr bool is_printable_literal(std::string_view text) {
  for (const char c : text)
    if (c < ' ' || c > '~') return false;
  return true;
}

}  // namespace penstock::detail
