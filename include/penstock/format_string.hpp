// SPDX-License-Identifier: MIT
// The first parameter of the macro-free API: a format text, checked while compiling, together with the place of the call.
#pragma once

#include <penstock/base/call_site.hpp>
#include <penstock/detail/format_check.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace penstock {

/// A format text that is not a literal: checked when the text is laid out. Made by runtime().
struct runtime_format {
  std::string_view text{};
};

/// Passes a format text that is known at run time only. A bad one gives a line that says so. Example: examples/macro_free.cpp.
///
/// Owner: the text need only live until the call that logs returns.
constexpr runtime_format runtime(std::string_view text) noexcept { return {text}; }

/// What `format_string<A...>` names. Constructed from a literal by the compiler alone, or from runtime().
template <class... A>
class basic_format_string {
 public:
  // The position is taken by default arguments of the constructor itself: a consteval function as default argument of another one
  // (as std::source_location would be) fails on clang 14.
  template <class Text>
  requires(std::convertible_to<const Text&, std::string_view> && !std::same_as<Text, runtime_format>) consteval basic_format_string(
      const Text& literal, const char* file = __builtin_FILE(),  // NOLINT: implicit by design
      const char* function = __builtin_FUNCTION(), std::uint32_t line = __builtin_LINE())
      : facts_{detail::text_of(literal), file, function, line} {
    static_cast<void>(detail::check_format<A...>(detail::text_of(literal)));
  }

  constexpr basic_format_string(runtime_format format, const char* file = __builtin_FILE(),  // NOLINT: implicit by design
                                const char* function = __builtin_FUNCTION(), std::uint32_t line = __builtin_LINE()) noexcept
      : facts_{format.text, file, function, line}, is_runtime_(true) {}

  constexpr const source_facts& facts() const noexcept { return facts_; }

  /// True for a text that came from runtime(): it may be gone after the call, so a record may not point at it.
  constexpr bool is_runtime() const noexcept { return is_runtime_; }

 private:
  source_facts facts_;
  bool is_runtime_ = false;
};

template <class... A>
using format_string = basic_format_string<std::type_identity_t<A>...>;

}  // namespace penstock
