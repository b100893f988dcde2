// SPDX-License-Identifier: MIT
// Keeps a message on its line: newlines, control characters and bytes that are not UTF-8 become visible escapes. Valid UTF-8 and TAB pass.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::backend {

/// Whether something in `text` cannot stand in a line as it is.
bool needs_escape(std::string_view text) noexcept;

/// Appends `text` with \n, \r, \xHH (C0, DEL, bytes that are not UTF-8) and \uHHHH (C1, U+2028, U+2029) in place of what does not belong in
/// a line.
///
/// Errors: std::bad_alloc.
void append_escaped(std::string& out, std::string_view text);

/// The largest n <= limit_bytes so that text[0, n) does not end inside a UTF-8 sequence.
std::size_t utf8_boundary(std::string_view text, std::size_t limit_bytes) noexcept;

}  // namespace penstock::backend
