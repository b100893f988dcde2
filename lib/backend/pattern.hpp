// SPDX-License-Identifier: MIT
// A sink's pattern, compiled once into a list of operations. Grammar: docs/config.md, "pattern".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/detail/plain.hpp>

#include "lib/backend/line_source.hpp"
#include "lib/backend/time_map.hpp"

namespace penstock::backend {

struct pattern_op {
  enum class kind : std::uint8_t { literal, time, level, thread, process, logger, file, line, function, message };

  kind what = kind::literal;
  std::string text{};  ///< the literal, or the strftime format of a time (empty: ISO 8601)
  std::string fill = " ";
  char align = '<';
  unsigned width = 0;
};

/// Where digits of the second's fraction stand in a rendered text.
struct fraction_place {
  std::uint32_t offset = 0;
  std::uint32_t digits = 6;
};

/// Errors: config_error if the pattern is not understood.
std::vector<pattern_op> compile_pattern(std::string_view pattern);

/// Renders everything but {message}. Keeps what a second's lines share.
class pattern_renderer {
 public:
  /// \param colour surround {level} by terminal colours
  explicit pattern_renderer(bool colour) noexcept : colour_(colour) {}

  /// Appends what `op` gives for `line`; adds the places of sub-second digits, whose digits stand there already.
  void append(std::string& out, const pattern_op& op, const line_source& line, std::vector<fraction_place>& places);

  /// Pads what was appended to `out` from `start` on to the op's width.
  static void pad(std::string& out, std::size_t start, const pattern_op& op, std::vector<fraction_place>* places);

 private:
  void append_time(std::string& out, const pattern_op& op, wall_ns time, std::vector<fraction_place>& places);

  bool colour_;
};

/// Writes the last three digits of a second's fraction. A function of its own, so that no line without them pays for them.
[[gnu::noinline]] inline void put_last_digits(char* place, std::uint32_t nanoseconds) noexcept {
  const std::uint32_t rest = nanoseconds % 1000;
  *place = static_cast<char>('0' + rest / 100);
  detail::put_pair(place + 1, rest % 100);
}

/// Writes the digits of a second's fraction, 6 or 9 of them.
inline void put_fraction(char* place, std::uint32_t nanoseconds, std::uint32_t digits) noexcept {
  const std::uint32_t microseconds = nanoseconds / 1000;
  const std::uint32_t low = microseconds % 10'000;
  detail::put_pair(place, microseconds / 10'000);
  detail::put_pair(place + 2, low / 100);
  detail::put_pair(place + 4, low % 100);
  if (digits > 6) put_last_digits(place + 6, nanoseconds);
}

}  // namespace penstock::backend
