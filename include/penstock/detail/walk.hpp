// SPDX-License-Identifier: MIT
// Lays out a statement whose format text is known at run time only: by a walk over the text, which hands to fmt what is not plain, and
// everything from the start again when the text has a width that is taken from an argument, a name, or an error.
#pragma once

#include <penstock/base/call_site.hpp>
#include <penstock/detail/encode.hpp>
#include <penstock/detail/fields.hpp>
#include <penstock/detail/format_check.hpp>
#include <penstock/detail/pieces.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

namespace penstock::detail {

inline void append(text_out& out, std::string_view text) { out.pos = put_string(out.room(text.size()), text); }

/// By the function that fmt has compiled already: fmt::vformat_to() would be compiled in each file that logs, a second each time.
inline void append_by_fmt(text_out& out, std::string_view format, fmt::format_args arguments) {
  append(out, fmt::vformat(fmt::string_view(format.data(), format.size()), arguments));
}

/// A field, given as a format of one argument, that has no bound.
template <class V>
void put_buffered(text_out& out, std::string_view field, const V& value) {
  if constexpr (std::is_same_v<V, addressed_string>) {
    if (field[field.size() - 2] == 'p') return append_by_fmt(out, field, fmt::make_format_args(value.address));
    append_by_fmt(out, field, fmt::make_format_args(value.text));
  } else {
    append_by_fmt(out, field, fmt::make_format_args(value));
  }
}

/// The argument numbers (up to 63, as bits) that are laid out as addresses in any text, also one that is not regular.
inline std::uint64_t addressed_arguments(std::string_view format) noexcept {
  std::uint64_t found = 0;
  std::size_t next_argument = 0;
  std::size_t outer = 0;
  bool in_field = false;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] == '{') {
      const bool has_next = i + 1 < format.size();
      if (!in_field && has_next && format[i + 1] == '{') {
        ++i;
        continue;
      }
      std::size_t argument = 0;
      std::size_t end = i + 1;
      for (; end < format.size() && format[end] >= '0' && format[end] <= '9' && argument < 64; ++end)
        argument = argument * 10 + static_cast<std::size_t>(format[end] - '0');
      if (end == i + 1) argument = next_argument++;
      if (in_field) {  // a width or precision
        i = format.find('}', i);
        if (i == std::string_view::npos) break;
      } else {
        in_field = true;
        outer = argument;
      }
    } else if (format[i] == '}') {
      if (in_field && format[i - 1] == 'p' && outer < 64) found |= std::uint64_t{1} << outer;
      in_field = false;
    }
  }
  return found;
}

using fmt_argument = fmt::basic_format_arg<fmt::format_context>;

/// One argument of a walk, whose types are data here: a walk that is compiled for each list of types takes longer to compile than all else
/// of a statement.
struct walked_value {
  const void* value = nullptr;
  void (*put)(text_out& out, std::string_view format, piece found, const void* value) = nullptr;
  fmt_argument (*argument)(const void* value, bool as_address) = nullptr;
};

template <class V>
fmt_argument argument_of(const void* value, [[maybe_unused]] bool as_address) {
  const V& argument = *static_cast<const V*>(value);
  if constexpr (std::is_same_v<V, addressed_string>) {
    if (as_address) return fmt::format_args(fmt::make_format_args(argument.address)).get(0);
    return fmt::format_args(fmt::make_format_args(argument.text)).get(0);
  } else {
    return fmt::format_args(fmt::make_format_args(argument)).get(0);
  }
}

/// By fmt's own parser, which also says what is wrong with a bad text. A C string is laid out as an address wherever it is once.
inline void lay_out_by_fmt(text_out& out, std::string_view format, const walked_value* values, fmt_argument* arguments, std::size_t count) {
  const std::uint64_t addressed = addressed_arguments(format);
  for (std::size_t i = 0; i != count; ++i) arguments[i] = values[i].argument(values[i].value, i < 64 && (addressed >> i & 1) != 0);
  append_by_fmt(out, format, fmt::format_args(arguments, static_cast<int>(count)));
}

template <class V>
constexpr decltype(auto) text_or_value(const V& value) noexcept {
  if constexpr (std::is_same_v<V, addressed_string>)
    return (value.text);
  else
    return (value);
}
template <class V>
constexpr decltype(auto) address_or_value(const V& value) noexcept {
  if constexpr (std::is_same_v<V, addressed_string>)
    return (value.address);
  else
    return (value);
}

/// The same for arguments with names, which fmt takes from the list of types.
template <class... V>
void lay_out_named_by_fmt(text_out& out, std::string_view format, const V&... values) {
  if constexpr ((std::is_same_v<V, addressed_string> || ...)) {
    const std::uint64_t addressed = addressed_arguments(format);
    if (addressed != 0) {
      const auto texts = fmt::make_format_args(text_or_value(values)...);
      const auto addresses = fmt::make_format_args(address_or_value(values)...);
      fmt::basic_format_arg<fmt::format_context> chosen[sizeof...(V)];
      for (std::size_t i = 0; i != sizeof...(V); ++i) {
        const bool is_address = i < 64 && (addressed >> i & 1) != 0;
        chosen[i] = (is_address ? fmt::format_args(addresses) : fmt::format_args(texts)).get(static_cast<int>(i));
      }
      return append_by_fmt(out, format, fmt::format_args(chosen, static_cast<int>(sizeof...(V))));
    }
  }
  append_by_fmt(out, format, fmt::make_format_args(text_or_value(values)...));
}

/// Lays out the field `found` of `format`.
template <class V>
void put_at_run_time(text_out& out, std::string_view format, piece found, const V& value) {
  if constexpr (is_direct<V>) {
    if (found.bytes == 0) {
      out.pos = put_plain(out.room(bytes_max<V>({}) + string_bytes(value)), value);
      return;
    }
  }
  if (format[found.begin - 1] != ':') return put_buffered(out, "{}", value);
  if (format[found.begin - 2] == '{') return put_buffered(out, format.substr(found.begin - 2, found.bytes + 3), value);
  fmt::memory_buffer field;  // without the number
  field.append(std::string_view("{:"));
  field.append(format.substr(found.begin, found.bytes + 1));
  put_buffered(out, {field.data(), field.size()}, value);
}

template <class V>
void put_walked(text_out& out, std::string_view format, piece found, const void* value) {
  put_at_run_time(out, format, found, *static_cast<const V*>(value));
}

/// False: the text is not regular, or wants an argument that is not there; what is laid out then is a part.
inline bool walk_fields(text_out& out, std::string_view format, const walked_value* values, std::size_t count) {
  piece_scan scan(format);
  while (!scan.done()) {
    const piece found = scan.next();
    if (!scan.regular() || (found.argument >= count && found.argument != piece::literal)) return false;
    if (found.argument == piece::literal)
      append(out, format.substr(found.begin, found.bytes));
    else
      values[found.argument].put(out, format, found, values[found.argument].value);
  }
  return scan.regular();
}

template <class... V, std::size_t... Index>
void walk(text_out& out, std::string_view format, [[maybe_unused]] const value_list<V...>& values, std::index_sequence<Index...>) {
  out.printable = false;
  const auto bytes_before = out.pos - out.begin;
  const walked_value all[] = {
      {std::addressof(value_at<Index>(values)), &put_walked<std::remove_cvref_t<V>>, &argument_of<std::remove_cvref_t<V>>}..., {}};
  if (walk_fields(out, format, all, sizeof...(V))) return;
  out.pos = out.begin + bytes_before;
  if constexpr ((is_named_argument<V> || ...)) {
    lay_out_named_by_fmt(out, format, value_at<Index>(values)...);
  } else {
    fmt_argument arguments[sizeof...(V) + 1];
    lay_out_by_fmt(out, format, all, arguments, sizeof...(V));
  }
}

}  // namespace penstock::detail
