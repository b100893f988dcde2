// SPDX-License-Identifier: MIT
#include "lib/backend/escape.hpp"

#include <cstdint>

namespace penstock::backend {

namespace {

// The bytes of the valid UTF-8 sequence at text[0], and its code point; 0 bytes: not one (overlong, surrogate, cut off, beyond U+10FFFF).
struct sequence {
  std::size_t bytes = 0;
  std::uint32_t code_point = 0;
};

sequence decode(std::string_view text) noexcept {
  const auto at = [text](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = at(0);
  const std::size_t bytes = lead < 0x80                   ? 1
                            : lead >= 0xC2 && lead < 0xE0 ? 2
                            : lead >= 0xE0 && lead < 0xF0 ? 3
                            : lead >= 0xF0 && lead < 0xF5 ? 4
                                                          : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  if (bytes == 1) return {1, lead};
  std::uint32_t code_point = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((at(i) & 0xC0) != 0x80) return {};
    code_point = (code_point << 6) | (at(i) & 0x3F);
  }
  const bool overlong = (bytes == 3 && code_point < 0x800) || (bytes == 4 && code_point < 0x1'0000);
  const bool surrogate = code_point >= 0xD800 && code_point < 0xE000;
  if (overlong || surrogate || code_point > 0x10'FFFF) return {};
  return {bytes, code_point};
}

bool allowed(std::uint32_t code_point) noexcept {
  if (code_point == '\t') return true;
  return code_point >= 0x20 && !(code_point >= 0x7F && code_point < 0xA0) && code_point != 0x2028 && code_point != 0x2029;
}

void append_hex(std::string& out, char kind, std::uint32_t value, int digits) {
  out += '\\';
  out += kind;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += "0123456789abcdef"[(value >> shift) & 0xF];
}

}  // namespace

bool needs_escape(std::string_view text) noexcept {
  while (!text.empty()) {
    const sequence next = decode(text);
    if (next.bytes == 0 || !allowed(next.code_point)) return true;
    text.remove_prefix(next.bytes);
  }
  return false;
}

void append_escaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const sequence next = decode(text);
    if (next.bytes == 0) {
      append_hex(out, 'x', static_cast<unsigned char>(text[0]), 2);
      text.remove_prefix(1);
      continue;
    }
    if (allowed(next.code_point)) {
      out.append(text.substr(0, next.bytes));
    } else if (next.code_point == '\n') {
      out += "\\n";
    } else if (next.code_point == '\r') {
      out += "\\r";
    } else if (next.code_point < 0x80) {
      append_hex(out, 'x', next.code_point, 2);
    } else {
      append_hex(out, 'u', next.code_point, 4);
    }
    text.remove_prefix(next.bytes);
  }
}

std::size_t utf8_boundary(std::string_view text, std::size_t limit_bytes) noexcept {
  if (limit_bytes >= text.size()) return text.size();
  std::size_t n = limit_bytes;
  for (int back = 0; back < 3 && n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80; ++back) --n;
  return (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80 ? limit_bytes : n;
}

}  // namespace penstock::backend
