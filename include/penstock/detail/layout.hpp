// SPDX-License-Identifier: MIT
// How the arguments of a statement become text: by code that is made from the format text while compiling (the macros), or by a walk over
// the text at run time (the macro-free API, and what is too rare to be compiled). The bytes are fmt's in every case.
#pragma once

#include <penstock/base/call_site.hpp>
#include <penstock/detail/encode.hpp>
#include <penstock/detail/fields.hpp>
#include <penstock/detail/format_check.hpp>
#include <penstock/detail/pieces.hpp>
#include <penstock/detail/printable.hpp>
#include <penstock/detail/walk.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <utility>

namespace penstock::detail {

/// Whether a field's text is printable ASCII, `Kind` being what is known of it while compiling. Only strings are looked at.
template <text_kind Kind, class V>
bool is_printable_value([[maybe_unused]] const V& value) noexcept {
  if constexpr (Kind == text_kind::as_string) {
    const std::string_view text = text_of_value(value);
    return is_printable(text.data(), text.size());
  } else {
    return Kind == text_kind::printable;
  }
}

/// What is known of a statement while compiling: its pieces, and the types that its layout sees.
template <class Format, class... V>
struct plan {
  static constexpr std::string_view text = Format::text();
  static constexpr bool regular = is_regular(text, sizeof...(V));
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
    static constexpr std::string_view specification = part<Piece>;
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
      if constexpr (way_of<value<Piece>>(part<Piece>) == field_way::buffered) {
        out.pos = place;
        put_buffered(out, field_format<Piece>::view, argument);
        return out.room(room_bytes);
      } else {
        return put_field<field_format<Piece>>(place, argument);
      }
    }
  }

  /// What is known of a piece's bytes while compiling.
  template <std::size_t Piece>
  static constexpr text_kind kind_of() {
    if constexpr (is_literal<Piece>)
      return is_printable_literal(part<Piece>) ? text_kind::printable : text_kind::unknown;
    else
      return kind_of_field<value<Piece>>(part<Piece>);
  }

  template <std::size_t Piece, class Values>
  static bool is_printable_piece([[maybe_unused]] const Values& values) noexcept {
    if constexpr (is_literal<Piece>)
      return kind_of<Piece>() == text_kind::printable;
    else
      return is_printable_value<kind_of<Piece>()>(value_at<pieces.items[Piece].argument>(values));
  }

  template <class Values, std::size_t... Piece>
  static void lay_out(text_out& out, const Values& values, std::index_sequence<Piece...> pieces_in_order) {
    const std::size_t bytes = room_bytes(values, pieces_in_order);
    char* place = out.room(bytes);
    ((place = put<Piece>(place, values, out, bytes)), ...);
    out.pos = place;
    if (((kind_of<Piece>() == text_kind::unknown) || ...) || !(is_printable_piece<Piece>(values) && ...)) out.printable = false;
  }
};

/// Fields without a specification, one for each argument and in their order, are laid out by a function that takes little to compile: no
/// template of it depends on a piece. All other statements have a plan.
template <std::size_t Count>
struct literal_list {
  piece items[Count + 1]{};  ///< before each field, and behind the last one
  std::size_t bytes = 0;
  bool in_order = false;
};

template <std::size_t Count>
constexpr literal_list<Count> literals_of(std::string_view text) {
  literal_list<Count> found;
  piece_scan scan(text);
  std::size_t fields = 0;
  bool after_literal = false;
  while (!scan.done()) {
    const piece next = scan.next();
    if (next.argument == piece::literal) {
      if (after_literal) return found;  // a doubled brace stands between them
      found.items[fields] = next;
      found.bytes += next.bytes;
    } else {
      if (next.argument != fields || next.argument >= Count || next.bytes != 0) return found;
      ++fields;
    }
    after_literal = next.argument == piece::literal;
  }
  found.in_order = scan.regular() && fields == Count;
  return found;
}

[[gnu::always_inline]] inline char* put_literal(char* place, const char* text, const piece& of) noexcept {
  if (of.bytes != 0) std::memcpy(place, text + of.begin, of.bytes);  // the room for an empty text may be null
  return place + of.bytes;
}

template <class Format, class... V, std::size_t... Index>
void lay_out_in_order(text_out& out, [[maybe_unused]] const value_list<V...>& values, std::index_sequence<Index...>) {
  static constexpr literal_list<sizeof...(V)> literals = literals_of<sizeof...(V)>(Format::text());
  constexpr std::size_t fixed_bytes = (literals.bytes + ... + bytes_max<V>({}));
  constexpr const char* text = Format::text().data();
  char* place = out.room((fixed_bytes + ... + string_bytes(value_at<Index>(values))));
  ((place = put_plain(put_literal(place, text, literals.items[Index]), value_at<Index>(values))), ...);
  out.pos = put_literal(place, text, literals.items[sizeof...(V)]);
  constexpr bool literals_are_printable = is_printable_literal(Format::text());
  if (!literals_are_printable || !(is_printable_value<kind_of_field<std::remove_cvref_t<V>>({})>(value_at<Index>(values)) && ...))
    out.printable = false;
}

/// Lays out a statement of a macro. `Format` is a class with a static constexpr function text().
template <class Format, class... V>
void lay_out_compiled(text_out& out, const value_list<V...>& values) {
  if constexpr ((is_direct<std::remove_cvref_t<V>> && ...) && literals_of<sizeof...(V)>(Format::text()).in_order) {
    lay_out_in_order<Format>(out, values, std::index_sequence_for<V...>{});
  } else {
    using plan_type = plan<Format, V...>;
    if constexpr (plan_type::regular)
      plan_type::lay_out(out, values, std::make_index_sequence<plan_type::count>{});
    else
      walk(out, plan_type::text, values, std::index_sequence_for<V...>{});
  }
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
    walk(out, source.format, arguments::load(encoded), std::index_sequence_for<A...>{});
  }
  static void lay_out_now(text_out& out, std::string_view format, const A&... values) {
    walk(out, format, arguments(values...).values(), std::index_sequence_for<A...>{});
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
