// SPDX-License-Identifier: MIT
// Checks a format text against argument types while compiling. The only file that knows fmt's version.
//
// fmt's own checked type (fmt::format_string) is not used with fmt 9: clang 14 refuses to construct it inside another consteval
// constructor, and it is compiled anew for each list of argument types. Here fmt's parser runs over a checker that takes the types as
// data, so that only the parser of each type is compiled, once.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <type_traits>

namespace penstock::detail {

template <class T>
inline constexpr bool is_named_argument = fmt::detail::is_named_arg<std::remove_cvref_t<T>>::value;

/// True for what fmt can format; a char array is not asked about, since fmt answers for its value only.
template <class T>
inline constexpr bool is_loggable = fmt::is_formattable<T, char>::value || std::is_array_v<T>;

#if FMT_VERSION < 100000
using check_context = fmt::detail::compile_parse_context<char, fmt::detail::error_handler>;

/// What is to know of one argument's type.
struct argument_check {
  const char* (*parse)(check_context& context) = nullptr;
  fmt::detail::type type = fmt::detail::type::none_type;
};
template <class T>
inline constexpr argument_check check_of{&fmt::detail::parse_format_specs<T, check_context>,
                                         fmt::detail::mapped_type_constant<T, fmt::format_context>::value};

/// The handler of fmt's parser: what fmt::detail::format_string_checker does, for any list of types.
class format_checker {
 public:
  constexpr format_checker(fmt::string_view text, const argument_check* arguments, const fmt::detail::type* types, int count)
      : context_(text, count, types), arguments_(arguments), count_(count) {}

  constexpr void on_text(const char*, const char*) {}
  constexpr int on_arg_id() { return context_.next_arg_id(); }
  constexpr int on_arg_id(int index) {
    context_.check_arg_id(index);
    return index;
  }
  constexpr int on_arg_id(fmt::string_view) {
    on_error("named argument is not found");
    return 0;
  }
  constexpr void on_replacement_field(int, const char*) {}
  constexpr const char* on_format_specs(int index, const char* begin, const char*) {
    context_.advance_to(context_.begin() + (begin - &*context_.begin()));
    return index >= 0 && index < count_ ? arguments_[index].parse(context_) : begin;
  }
  constexpr void on_error(const char* message) { context_.on_error(message); }

 private:
  check_context context_;
  const argument_check* arguments_;
  int count_;
};
#endif

/// Does not compile to a constant when `text` is not a valid format for arguments of types A: a missing argument (also of a dynamic width),
/// an unknown name, a specification that the type does not have. Arguments that are named at run time (fmt::arg) are left to run time,
/// as fmt leaves them.
template <class... A>
consteval bool check_format(std::string_view text) {
  if constexpr (!(is_loggable<std::remove_cvref_t<A>> && ...)) {
    static_assert(
        (is_loggable<std::remove_cvref_t<A>> && ...),
        "an argument can't be logged, since fmt can't format its type: specialise fmt::formatter for it, include the header that does "
        "(fmt/ranges.h, fmt/chrono.h, fmt/ostream.h), or pass an address as const void* (fmt::ptr).");
  } else if constexpr (!(is_named_argument<A> || ...)) {
#if FMT_VERSION < 100000
    const argument_check arguments[] = {check_of<std::remove_cvref_t<A>>..., {}};
    const fmt::detail::type types[] = {check_of<std::remove_cvref_t<A>>.type..., fmt::detail::type::none_type};
    const fmt::string_view view(text.data(), text.size());
    fmt::detail::parse_format_string<true>(view, format_checker(view, arguments, types, static_cast<int>(sizeof...(A))));
#else
    static_cast<void>(fmt::format_string<const std::remove_cvref_t<A>&...>(fmt::string_view(text.data(), text.size())));
#endif
  }
  return true;
}

/// The format text of a literal or of a constant view. A literal keeps the NULs inside it.
template <std::size_t N>
constexpr std::string_view text_of(const char (&literal)[N]) noexcept {
  return {literal, N - 1};
}
constexpr std::string_view text_of(std::string_view text) noexcept { return text; }

/// Converts from any format text that is valid for arguments of types A, and from nothing else: a parameter of this type is the check of a
/// macro's literal.
template <class... A>
struct checked_format {
  template <class Text>
  consteval checked_format(const Text& text) {  // NOLINT: implicit by design
    static_cast<void>(check_format<A...>(text_of(text)));
  }
};

}  // namespace penstock::detail
