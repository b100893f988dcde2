// SPDX-License-Identifier: MIT
// The static facts of one log statement, and how its arguments become text. One constant object a statement; records point at it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <penstock/base/level.hpp>

namespace penstock {

/// Where a statement stands. All texts are literals: they live as long as the module.
struct source_facts {
  std::string_view format{};
  const char* file = "";      ///< as __FILE__ gives it
  const char* function = "";  ///< as __func__ gives it
  std::uint32_t line = 0;
};

namespace detail {

/// Room that text is laid out in. Whoever lays out asks for room, writes at `pos`, and moves `pos`; when there is not enough, `grow` moves
/// the text that is already there to a larger place.
struct text_out {
  char* begin = nullptr;                                          ///< first byte of this text; moved by grow
  char* pos = nullptr;                                            ///< next byte
  char* end = nullptr;                                            ///< end of the room
  void (*grow)(text_out& out, std::size_t more_bytes) = nullptr;  ///< afterwards end - pos >= more_bytes; may throw std::bad_alloc
  bool printable = true;                                          ///< false: what is laid out may hold more than printable ASCII

  /// At least `bytes` bytes at the returned place.
  char* room(std::size_t bytes) {
    if (static_cast<std::size_t>(end - pos) < bytes) [[unlikely]]
      grow(*this, bytes);
    return pos;
  }
};

/// Lays out the text of a record whose encoded arguments are at `arguments`. May throw what a formatter throws: called by the library only,
/// which catches.
using layout_function = void (*)(const std::byte* arguments, const source_facts& source, text_out& out);

/// Flags of a call_site.
enum site_flags : std::uint8_t {
  site_plain = 0,
  site_source_in_record = 1,  ///< the payload starts with a source_facts (macro-free API); `source` of the site is empty
  site_user_types = 2,        ///< a user's formatter runs: never laid out in a chunk, since it may log itself
};

struct call_site {
  source_facts source{};
  layout_function layout = nullptr;
  penstock::level level = penstock::level::info;
  std::uint8_t flags = site_plain;
};

}  // namespace detail
}  // namespace penstock
