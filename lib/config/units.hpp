// SPDX-License-Identifier: MIT
// Sizes and durations as the config file and the command line spell them: a whole number and a unit, "256 KiB", "20 ms". Nothing is
// guessed: a number without a unit is refused, since its reader and its writer may think of different ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace penstock::detail {

/// What reading a quantity gave: its value, or why there is none.
template <class T>
struct parsed {
  T value{};
  std::string problem{};  ///< empty: `value` holds; otherwise what is wrong, and the remedy

  bool ok() const noexcept { return problem.empty(); }
};

/// Reads "256 KiB": B, KiB, MiB, GiB or TiB; the space may be left out.
parsed<std::uint64_t> parse_size(std::string_view text);

/// Reads "20 ms": ns, us, ms, s, min, h or d; the space may be left out.
parsed<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// The shortest spelling that parse_size() reads back to the same value.
std::string size_text(std::uint64_t bytes);

/// The shortest spelling that parse_duration() reads back to the same value; a negative one gets its sign.
std::string duration_text(std::chrono::nanoseconds value);

/// How many letters must be inserted, removed, replaced or exchanged with their neighbour to turn one word into the other.
std::size_t edit_distance(std::string_view one, std::string_view other);

/// The word nearest to `text`, or an empty one if none is near enough to be what was meant.
std::string_view nearest(std::string_view text, std::span<const std::string_view> words);

/// `text` in double quotes, as TOML writes it: control characters, quotes and backslashes escaped.
std::string in_quotes(std::string_view text);

/// "a, b, c".
std::string list_text(std::span<const std::string_view> words);

}  // namespace penstock::detail
