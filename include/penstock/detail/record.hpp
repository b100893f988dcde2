// SPDX-License-Identifier: MIT
// A record in memory: this header, then the payload (finished text, or encoded arguments), padded to 8 bytes.
//
//   | size_word (4) | logger_word (4) | time_ticks (8) | site (8) | payload ... | padding 0..7 |
//
// A record whose site has site_source_in_record begins its payload with a source_facts. docs/record_format.md has a worked example.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/base/call_site.hpp>

namespace penstock::detail {

struct record_header {
  std::uint32_t size_word;    ///< bytes of the whole record, a multiple of 8, plus the bytes of padding in the low 3 bits
  std::uint32_t logger_word;  ///< logger index in the low 24 bits, record_flags above
  std::uint64_t time_ticks;   ///< tick_clock at the call
  const call_site* site;      ///< never null

  std::size_t record_bytes() const noexcept { return size_word & ~std::uint32_t{7}; }
  std::size_t payload_bytes() const noexcept;
  std::uint32_t logger_index() const noexcept { return logger_word & 0xFF'FFFFU; }
  bool is_text() const noexcept;
  bool is_printable() const noexcept;
};
static_assert(sizeof(record_header) == 24 && alignof(record_header) == 8);

enum record_flags : std::uint32_t {
  record_is_text = 1U << 24,
  record_cut_short = 1U << 25,     ///< the text was longer than a record may be; a marker stands at its end
  record_is_printable = 1U << 26,  ///< the text is known to be printable ASCII
};

inline std::size_t record_header::payload_bytes() const noexcept {
  return (size_word & ~std::uint32_t{7}) - (size_word & 7U) - sizeof(record_header);
}
inline bool record_header::is_text() const noexcept { return (logger_word & record_is_text) != 0; }
inline bool record_header::is_printable() const noexcept { return (logger_word & record_is_printable) != 0; }

/// Bytes of a whole record with `payload_bytes` bytes of payload.
constexpr std::size_t record_bytes_for(std::size_t payload_bytes) noexcept {
  return (sizeof(record_header) + payload_bytes + 7) & ~std::size_t{7};
}

/// The size_word of a record with `payload_bytes` bytes of payload.
constexpr std::uint32_t size_word_for(std::size_t payload_bytes) noexcept {
  return static_cast<std::uint32_t>(record_bytes_for(payload_bytes) | ((0 - payload_bytes) & 7U));
}

}  // namespace penstock::detail
