// SPDX-License-Identifier: MIT
// How the arguments of a statement become text: by code that is made from the format text while compiling (the macros), or by a walk over
// the text at run time (the macro-free API, and what is too rare to be compiled). The bytes are fmt's in every case.
#pragma once

#include <penstock/base/call_site.hpp>
#include <penstock/detail/encode.hpp>
#include <penstock/detail/format_check.hpp>
#include <penstock/detail/pieces.hpp>
#include <penstock/detail/plain.hpp>
#include <penstock/detail/real.hpp>

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

// {:p} of a C string is its address; all else is said of its text.
template <>
struct fmt::formatter<penstock::detail::addressed_string> {
  constexpr auto parse(fmt::format_parse_context& context) {
    const auto* last = context.begin();
    for (std::size_t depth = 1; last != context.end(); ++last) {
      if (*last == '{') ++depth;
      if (*last == '}' && --depth == 0) break;
    }
    is_address_ = last != context.begin() && last[-1] == 'p';
    return is_address_ ? address_.parse(context) : text_.parse(context);
  }
  template <class Context>
  auto format(const penstock::detail::addressed_string& value, Context& context) const {
    return is_address_ ? address_.format(value.address, context)
                       : text_.format(fmt::string_view(value.text.data(), value.text.size()), context);
  }

 private:
  fmt::formatter<const void*> address_;
  fmt::formatter<fmt::string_view> text_;
  bool is_address_ = false;
};

namespace penstock::detail {

inline void append(text_out& out, std::string_view text) { out.pos = put_string(out.room(text.size()), text); }

template <class... V>
void lay_out_by_fmt(text_out& out, std::string_view format, V&... values) {
  fmt::memory_buffer buffer;
  fmt::vformat_to(fmt::appender(buffer), fmt::string_view(format.data(), format.size()), fmt::make_format_args(values...));
  append(out, {buffer.data(), buffer.size()});
}

/// How one field is laid out.
enum class field_way : std::uint8_t {
  plain,     ///< `{}` of a built-in type
  bounded,   ///< a specification whose text can't be longer than a bound known while compiling
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

template <class V>
constexpr field_way way_of(std::string_view specification) {
  if constexpr (is_direct<V>) {
    if (specification.empty()) return field_way::plain;
    // Locale and debug forms have no bound here (and fmt 9 lays a compiled {:?} out wrongly); 'p' of a string is an address.
    for (const char c : specification)
      if (c == 'L' || c == '?' || (is_text_value<V> && c == 'p')) return field_way::buffered;
    return numbers_in(specification) > number_max ? field_way::buffered : field_way::bounded;
  } else {
    return field_way::buffered;
  }
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

/// What fmt lays out for a value of a bounded field.
template <class V>
constexpr const V& as_formatted(const V& value) noexcept {
  return value;
}
constexpr std::string_view as_formatted(const addressed_string& value) noexcept { return value.text; }

/// What is known of a statement while compiling: its pieces, and the types that its layout sees.
template <class Format, class... V>
struct plan {
  static constexpr std::string_view text = Format::text();
  static constexpr bool regular = is_regular(text);
  static constexpr std::size_t count = count_pieces(text);
  static constexpr piece_list<count> pieces = split<count>(text);

  template <std::size_t Piece>
  static constexpr bool is_literal = pieces.items[Piece].argument == piece::literal;
  template <std::size_t Piece>
  static constexpr std::string_view part = text.substr(pieces.items[Piece].begin, pieces.items[Piece].bytes);
  template <std::size_t Piece>
  using value = std::remove_cvref_t<decltype(value_at<pieces.items[Piece].argument>(std::declval<value_list<V...>>()))>;

  /// The text of a field as a format of its own, for one argument.
  template <std::size_t Piece>
  struct field_format {
    static constexpr std::size_t bytes = part<Piece>.size() + 3;
    struct storage {
      char text[bytes];
    };
    static constexpr storage made = [] {
      storage s{};
      s.text[0] = '{';
      s.text[1] = ':';
      for (std::size_t i = 0; i != part<Piece>.size(); ++i) s.text[i + 2] = part<Piece>[i];
      s.text[bytes - 1] = '}';
      return s;
    }();
    static constexpr std::string_view view{made.text, bytes};
  };

  /// Bytes of a piece, beside those of strings and of what is buffered.
  template <std::size_t Piece>
  static constexpr std::size_t piece_bytes_max() {
    if constexpr (is_literal<Piece>)
      return part<Piece>.size();
    else if constexpr (way_of<value<Piece>>(part<Piece>) == field_way::buffered)
      return 0;
    else
      return bytes_max<value<Piece>>(part<Piece>);
  }

  template <class Values, std::size_t... Piece>
  static std::size_t room_bytes([[maybe_unused]] const Values& values, std::index_sequence<Piece...>) noexcept {
    constexpr std::size_t fixed_bytes = (std::size_t{0} + ... + piece_bytes_max<Piece>());
    return (fixed_bytes + ... + piece_string_bytes<Piece>(values));
  }

  template <std::size_t Piece, class Values>
  static constexpr std::size_t piece_string_bytes(const Values& values) noexcept {
    if constexpr (is_literal<Piece>)
      return 0;
    else
      return string_bytes(value_at<pieces.items[Piece].argument>(values));
  }

  /// Lays out one piece at `place`; `room_bytes` is the room that was asked for in all.
  template <std::size_t Piece, class Values>
  static char* put(char* place, [[maybe_unused]] const Values& values, [[maybe_unused]] text_out& out,
                   [[maybe_unused]] std::size_t room_bytes) {
    if constexpr (is_literal<Piece>) {
      std::memcpy(place, part<Piece>.data(), part<Piece>.size());
      return place + part<Piece>.size();
    } else {
      const auto& argument = value_at<pieces.items[Piece].argument>(values);
      constexpr field_way way = way_of<value<Piece>>(part<Piece>);
      if constexpr (way == field_way::plain) {
        return put_plain(place, argument);
      } else if constexpr (way == field_way::bounded) {
        return fmt::format_to(place, FMT_COMPILE((field_format<Piece>::view)), as_formatted(argument));
      } else {
        out.pos = place;
        lay_out_by_fmt(out, field_format<Piece>::view, argument);
        return out.room(room_bytes);
      }
    }
  }

  template <class Values, std::size_t... Piece>
  static void lay_out(text_out& out, const Values& values, std::index_sequence<Piece...> pieces_in_order) {
    const std::size_t bytes = room_bytes(values, pieces_in_order);
    char* place = out.room(bytes);
    ((place = put<Piece>(place, values, out, bytes)), ...);
    out.pos = place;
  }
};

template <class... V, std::size_t... Index>
void lay_out_by_fmt(text_out& out, std::string_view format, const value_list<V...>& values, std::index_sequence<Index...>) {
  lay_out_by_fmt(out, format, value_at<Index>(values)...);
}

/// Lays out a statement of a macro. `Format` is a class with a static constexpr function text().
template <class Format, class... V>
void lay_out_compiled(text_out& out, const value_list<V...>& values) {
  using plan_type = plan<Format, V...>;
  if constexpr (plan_type::regular)
    plan_type::lay_out(out, values, std::make_index_sequence<plan_type::count>{});
  else
    lay_out_by_fmt(out, plan_type::text, values, std::index_sequence_for<V...>{});
}

/// Everything that a macro needs of its statement. Nothing here throws but what a formatter, or the room, throws.
template <class Format, class... A>
struct compiled_statement {
  /// False: the statement can't be encoded; its text is made at once, by lay_out_now().
  static constexpr bool deferrable = all_deferrable<A...>;
  static constexpr bool user_types = has_user_types<A...>;

  /// The address of a C string is kept only where a format asks for it.
  static constexpr bool keeps_addresses = asks_for_address(Format::text());
  using arguments = captured<keeps_addresses, A...>;

  /// The layout_function of encoded arguments.
  static void lay_out(const std::byte* encoded, const source_facts&, text_out& out) {
    lay_out_compiled<Format>(out, arguments::load(encoded));
  }
  /// The same text from the arguments themselves.
  static void lay_out_now(text_out& out, const A&... values) { lay_out_compiled<Format>(out, arguments(values...).values()); }
};

/// The same for the macro-free API: the format text is that of the source_facts.
template <class... A>
struct runtime_statement {
  static constexpr bool deferrable = all_deferrable<A...>;
  static constexpr bool user_types = has_user_types<A...>;
  using arguments = captured<true, A...>;

  static void lay_out(const std::byte* encoded, const source_facts& source, text_out& out) {
    lay_out_by_fmt(out, source.format, arguments::load(encoded), std::index_sequence_for<A...>{});
  }
  static void lay_out_now(text_out& out, std::string_view format, const A&... values) {
    lay_out_by_fmt(out, format, arguments(values...).values(), std::index_sequence_for<A...>{});
  }
};

}  // namespace penstock::detail

/// A class with a static constexpr function text(), for a format literal.
#define PENSTOCK_DETAIL_FORMAT(literal)                                                           \
  [] {                                                                                            \
    struct penstock_format {                                                                      \
      static constexpr ::std::string_view text() { return ::penstock::detail::text_of(literal); } \
    };                                                                                            \
    return penstock_format{};                                                                     \
  }()
