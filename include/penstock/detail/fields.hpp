// SPDX-License-Identifier: MIT
// How one field of a format is laid out: which way suits its type and specification, and how long its text can be.
//
// Fields without a specification, and the few specifications that most logs use, have code of their own; the others are compiled by fmt, or
// laid out by it in a buffer where no bound is known.
#pragma once

#include <penstock/base/call_site.hpp>
#include <penstock/detail/encode.hpp>
#include <penstock/detail/plain.hpp>
#include <penstock/detail/real.hpp>

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace penstock::detail {

/// How one field is laid out.
enum class field_way : std::uint8_t {
  plain,     ///< `{}` of a built-in type
  fixed,     ///< `{:.2f}`: a double with a fixed number of places
  padded,    ///< `{:<8}`, `{:>8}`: a string in a column
  bounded,   ///< another specification whose text can't be longer than a bound known while compiling
  buffered,  ///< anything else
};

/// Upper bound of a width or precision that is laid out straight into a record; a larger one takes a buffer.
inline constexpr std::size_t number_max = 1024;

/// The sum of all numbers in a specification: no less than its width and precision together.
constexpr std::size_t numbers_in(std::string_view specification) {
  std::size_t sum = 0;
  std::size_t number = 0;
  for (const char c : specification) {
    if (c >= '0' && c <= '9') {
      number = number * 10 + static_cast<std::size_t>(c - '0');
      if (number > number_max) return number_max + 1;
    } else {
      sum += number;
      number = 0;
    }
  }
  return sum + number;
}

template <class V>
inline constexpr bool is_text_value = std::is_same_v<V, std::string_view> || std::is_same_v<V, addressed_string>;
template <class V>
inline constexpr bool is_direct =
    (std::is_arithmetic_v<V> && sizeof(V) <= 8 && !std::is_same_v<V, long double>) || is_text_value<V> || std::is_same_v<V, const void*>;

/// The places of ".0f" to ".6f"; otherwise a number above all of them.
constexpr std::uint32_t fixed_places(std::string_view specification) {
  const bool is_fixed = specification.size() == 3 && specification[0] == '.' && specification[2] == 'f';
  return is_fixed && specification[1] >= '0' && specification[1] <= '6' ? static_cast<std::uint32_t>(specification[1] - '0') : 7;
}

struct column {
  std::size_t width = 0;  ///< 0: the specification is more than a column
  bool to_the_right = false;
};

/// The column of "<8", ">8" or "8".
constexpr column column_of(std::string_view specification) {
  column found{0, specification[0] == '>'};
  if (specification[0] == '<' || specification[0] == '>') specification.remove_prefix(1);
  if (specification.empty() || specification[0] == '0') return {};
  for (const char c : specification) {
    if (c < '0' || c > '9') return {};
    found.width = found.width * 10 + static_cast<std::size_t>(c - '0');
    if (found.width > number_max) return {};
  }
  return found;
}

template <class V>
constexpr field_way way_of(std::string_view specification) {
  using enum field_way;
  if constexpr (is_direct<V>) {
    if (specification.empty()) return plain;
    if (std::is_same_v<V, double> && fixed_places(specification) <= 6) return fixed;
    if (is_text_value<V> && column_of(specification).width != 0) return padded;
    // Locale and debug forms have no bound here (and fmt 9 lays a compiled {:?} out wrongly); 'p' of a string is an address.
    for (const char c : specification)
      if (c == 'L' || c == '?' || (is_text_value<V> && c == 'p')) return buffered;
    return numbers_in(specification) > number_max ? buffered : bounded;
  } else {
    return buffered;
  }
}

/// What is known of the bytes of a text before it is laid out.
enum class text_kind : std::uint8_t {
  printable,  ///< printable ASCII
  as_string,  ///< as printable as the string it is made of
  unknown,
};

template <class V>
constexpr text_kind kind_of_field(std::string_view specification) {
  const field_way way = way_of<V>(specification);
  if (way == field_way::bounded || way == field_way::buffered || std::is_same_v<V, char>) return text_kind::unknown;
  return is_text_value<V> ? text_kind::as_string : text_kind::printable;
}

/// Bytes that a field can be long, beside the bytes of a string.
template <class V>
constexpr std::size_t bytes_max(std::string_view specification) {
  const std::size_t padding = 4 * numbers_in(specification);  // a fill is up to 4 bytes long
  if constexpr (is_text_value<V>)
    return padding;
  else if constexpr (std::is_floating_point_v<V>)
    return padding + (specification.empty() ? real_bytes_max : 352);  // sign, 309 digits, point, 6 places by default; "%a" is shorter
  else
    return padding + (specification.empty() ? 24 : 72);  // 64 binary digits, prefix, sign
}

template <class V>
constexpr std::size_t string_bytes(const V& value) noexcept {
  if constexpr (std::is_same_v<V, std::string_view>)
    return value.size();
  else if constexpr (std::is_same_v<V, addressed_string>)
    return value.text.size();
  else
    return 0;
}

template <class V>
inline char* put_plain(char* place, const V& value) {
  if constexpr (std::is_same_v<V, bool>) {
    return put_bool(place, value);
  } else if constexpr (std::is_same_v<V, char>) {
    *place = value;
    return place + 1;
  } else if constexpr (std::is_integral_v<V>) {
    return put_integer(place, value);
  } else if constexpr (std::is_floating_point_v<V>) {
    return put_real(place, value);
  } else if constexpr (std::is_same_v<V, std::string_view>) {
    return put_string(place, value);
  } else if constexpr (std::is_same_v<V, addressed_string>) {
    return put_string(place, value.text);
  } else {
    return fmt::format_to(place, FMT_COMPILE("{}"), value);
  }
}

template <class V>
constexpr std::string_view text_of_value(const V& value) noexcept {
  if constexpr (std::is_same_v<V, addressed_string>)
    return value.text;
  else
    return value;
}

inline bool is_ascii(std::string_view text) noexcept {
  unsigned char all = 0;
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return all < 0x80;
}

/// A column's text: fmt measures it in columns of a terminal, which are bytes as long as all of it is ASCII.
template <class Specified, column Column>
inline char* put_padded(char* place, std::string_view text) {
  if (!is_ascii(text)) return fmt::format_to(place, FMT_COMPILE((Specified::view)), text);
  if constexpr (!Column.to_the_right) place = put_string(place, text);
  if (text.size() < Column.width) {
    std::memset(place, ' ', Column.width - text.size());
    place += Column.width - text.size();
  }
  if constexpr (Column.to_the_right) place = put_string(place, text);
  return place;
}

/// Lays out a field in one of the ways that have a bound. `Specified` has the field as a format of one argument: `view` is all
/// of it, `specification` what stands behind the colon.
template <class Specified, class V>
inline char* put_field(char* place, const V& value) {
  constexpr field_way way = way_of<V>(Specified::specification);
  if constexpr (way == field_way::plain)
    return put_plain(place, value);
  else if constexpr (way == field_way::fixed)
    return put_fixed<fixed_places(Specified::specification)>(place, value);
  else if constexpr (way == field_way::padded)
    return put_padded<Specified, column_of(Specified::specification)>(place, text_of_value(value));
  else if constexpr (is_text_value<V>)
    return fmt::format_to(place, FMT_COMPILE((Specified::view)), text_of_value(value));
  else
    return fmt::format_to(place, FMT_COMPILE((Specified::view)), value);
}

}  // namespace penstock::detail
