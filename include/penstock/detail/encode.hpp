// SPDX-License-Identifier: MIT
// How the arguments of a statement are copied into a record, and read back there.
//
//   | fixed part of argument 0 | of argument 1 | ... | bytes of the first string | of the second | ... |
//
// The fixed part of a string is its length (4 bytes), so that every fixed part has an offset that is known while compiling. Nothing is
// aligned. A string is always copied: nothing that is logged can dangle.
#pragma once

#include <penstock/detail/plain.hpp>

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace penstock {

/// Says that values of a type may be copied, byte for byte, to the thread that lays out text; otherwise the caller lays it out. Only right
/// for a type without pointers to what may be gone by then:
///
///     template <> inline constexpr bool penstock::defer<my_type> = true;   // see examples/user_types.cpp
template <class T>
inline constexpr bool defer = false;

namespace detail {

enum class argument_kind : std::uint8_t {
  number,    ///< arithmetic types
  string,    ///< has a length
  c_string,  ///< ends at its first NUL, or with its array
  pointer,   ///< what fmt lays out as an address
  time,      ///< std::chrono durations and time points
  user,      ///< an enumeration, or opted in by `defer`: a formatter that is not fmt's may run
  text,      ///< can't be deferred: the statement is formatted by its caller
};

template <class T>
inline constexpr bool is_known_string = false;
template <class Traits, class Allocator>
inline constexpr bool is_known_string<std::basic_string<char, Traits, Allocator>> = true;
template <class Traits>
inline constexpr bool is_known_string<std::basic_string_view<char, Traits>> = true;
template <>
inline constexpr bool is_known_string<fmt::basic_string_view<char>> = true;

// Known by their shape, not by name, so that <chrono> need not be included: nothing but one number is inside.
template <class T>
concept duration_like = std::is_trivially_copyable_v<T> && std::is_arithmetic_v<typename T::rep> && requires(const T& t) {
  typename T::period;
  { t.count() } -> std::same_as<typename T::rep>;
} && sizeof(T) == sizeof(typename T::rep);
template <class T>
concept time_point_like = std::is_trivially_copyable_v<T> && duration_like<typename T::duration> && requires(const T& t) {
  typename T::clock;
  { t.time_since_epoch() } -> std::same_as<typename T::duration>;
} && sizeof(T) == sizeof(typename T::duration);

template <class T>
consteval argument_kind kind_of() {
  using enum argument_kind;
  using element = std::remove_cv_t<std::remove_pointer_t<std::decay_t<T>>>;
  if constexpr (defer<T>) {
    static_assert(std::is_trivially_copyable_v<T>,
                  "penstock::defer<T> is true for a type that is not trivially copyable: it can't be copied byte for byte into a record. "
                  "Remove the specialisation (the caller then lays it out), or make the type trivially copyable.");
    return user;
  } else if constexpr (std::is_arithmetic_v<T>) {
    return number;
  } else if constexpr (std::is_same_v<element, char> && (std::is_pointer_v<T> || std::rank_v<T> == 1)) {
    return c_string;
  } else if constexpr (is_known_string<T>) {
    return string;
  } else if constexpr (std::is_null_pointer_v<T> || std::is_same_v<T, void*> || std::is_same_v<T, const void*>) {
    return pointer;
  } else if constexpr (std::is_enum_v<T>) {
    return user;
  } else if constexpr (duration_like<T> || time_point_like<T>) {
    return time;
  } else {
    return text;
  }
}

template <class... A>
inline constexpr bool all_deferrable = ((kind_of<A>() != argument_kind::text) && ...);

/// True when code that is not fmt's may run while the arguments are laid out, and so may log itself.
template <class... A>
inline constexpr bool has_user_types = ((kind_of<A>() == argument_kind::text || kind_of<A>() == argument_kind::user) || ...);

/// A C string whose address may be asked for by {:p}.
struct addressed_string {
  std::string_view text{};
  const void* address = nullptr;
};

/// A value of any trivially copyable type, made from bytes.
template <class T>
union rebuilt {
  T value;
  explicit rebuilt(const std::byte* bytes) noexcept { std::memcpy(static_cast<void*>(this), bytes, sizeof(T)); }
};

template <class T>
[[gnu::always_inline]] inline void store_as(std::byte* place, const T& value) noexcept {
  std::memcpy(place, static_cast<const void*>(std::addressof(value)), sizeof(T));
}
template <class T>
[[gnu::always_inline]] inline T load_as(const std::byte* place) noexcept {
  T value;
  std::memcpy(&value, place, sizeof(T));
  return value;
}

// A codec takes an argument where it is logged, stores its fixed part, and loads it again: `value` is what the layout sees in both cases.
template <class A, bool KeepAddress, argument_kind Kind = kind_of<A>()>
struct codec {  // number, time, user
  static constexpr std::size_t fixed_bytes = sizeof(A);
  using value = std::remove_cv_t<A>;
  using taken = std::conditional_t<std::is_scalar_v<A>, value, const A&>;  // by value, so that what is volatile is read once
  [[gnu::always_inline]] static taken take(const A& argument) noexcept { return argument; }
  [[gnu::always_inline]] static std::size_t tail_bytes(const value&) noexcept { return 0; }
  [[gnu::always_inline]] static void store(std::byte* fixed, std::byte*&, const value& argument) noexcept { store_as(fixed, argument); }
  static value load(const std::byte* fixed, const std::byte*&) noexcept {
    if constexpr (std::is_arithmetic_v<A>)
      return load_as<value>(fixed);
    else
      return rebuilt<value>(fixed).value;
  }
};

template <class A, bool KeepAddress>
struct codec<A, KeepAddress, argument_kind::text> {
  static constexpr std::size_t fixed_bytes = 0;
  using value = const A&;
  using taken = const A&;
  [[gnu::always_inline]] static taken take(const A& argument) noexcept { return argument; }
};

template <class A, bool KeepAddress>
struct codec<A, KeepAddress, argument_kind::pointer> {
  static constexpr std::size_t fixed_bytes = sizeof(const void*);
  using value = const void*;
  using taken = const void*;
  [[gnu::always_inline]] static taken take(const void* argument) noexcept { return argument; }
  [[gnu::always_inline]] static std::size_t tail_bytes(taken) noexcept { return 0; }
  [[gnu::always_inline]] static void store(std::byte* fixed, std::byte*&, taken argument) noexcept { store_as(fixed, argument); }
  static value load(const std::byte* fixed, const std::byte*&) noexcept { return load_as<const void*>(fixed); }
};

inline void store_string(std::byte* fixed, std::byte*& tail, std::string_view text) noexcept {
  store_as(fixed, static_cast<std::uint32_t>(text.size()));
  put_string(reinterpret_cast<char*>(tail), text);
  tail += text.size();
}
inline std::string_view load_string(const std::byte* fixed, const std::byte*& tail) noexcept {
  const std::size_t bytes = load_as<std::uint32_t>(fixed);
  const std::string_view text(reinterpret_cast<const char*>(tail), bytes);
  tail += bytes;
  return text;
}

template <class A, bool KeepAddress>
struct codec<A, KeepAddress, argument_kind::string> {
  static constexpr std::size_t fixed_bytes = sizeof(std::uint32_t);
  using value = std::string_view;
  using taken = std::string_view;
  [[gnu::always_inline]] static taken take(const A& argument) noexcept { return {argument.data(), argument.size()}; }
  [[gnu::always_inline]] static std::size_t tail_bytes(taken argument) noexcept { return argument.size(); }
  [[gnu::always_inline]] static void store(std::byte* fixed, std::byte*& tail, taken argument) noexcept {
    store_string(fixed, tail, argument);
  }
  static value load(const std::byte* fixed, const std::byte*& tail) noexcept { return load_string(fixed, tail); }
};

/// The text of a C string. A null pointer is not an error: its text is "(null)" wherever it is laid out. An array without a NUL ends with
/// the array.
template <class A>
[[gnu::always_inline]] inline std::string_view view_of(const A& text) noexcept {
  if constexpr (std::is_array_v<A>) {
    constexpr std::size_t bytes_max = std::extent_v<A>;
    const std::size_t bytes = text[bytes_max - 1] == '\0' ? std::strlen(text) : ::strnlen(text, bytes_max);  // of a literal: a constant
    if (bytes > bytes_max) __builtin_unreachable();  // told, so that no copy of more bytes is compiled
    return {text, bytes};
  } else {
    return text == nullptr ? std::string_view("(null)") : std::string_view(text);
  }
}

template <class A>
struct codec<A, false, argument_kind::c_string> {
  static constexpr std::size_t fixed_bytes = sizeof(std::uint32_t);
  using value = std::string_view;
  using taken = std::string_view;
  [[gnu::always_inline]] static taken take(const A& argument) noexcept { return view_of(argument); }
  [[gnu::always_inline]] static std::size_t tail_bytes(taken argument) noexcept { return argument.size(); }
  [[gnu::always_inline]] static void store(std::byte* fixed, std::byte*& tail, taken argument) noexcept {
    store_string(fixed, tail, argument);
  }
  static value load(const std::byte* fixed, const std::byte*& tail) noexcept { return load_string(fixed, tail); }
};

template <class A>
struct codec<A, true, argument_kind::c_string> {
  static constexpr std::size_t fixed_bytes = sizeof(const void*) + sizeof(std::uint32_t);
  using value = addressed_string;
  using taken = addressed_string;
  [[gnu::always_inline]] static taken take(const A& argument) noexcept { return {view_of(argument), argument}; }
  [[gnu::always_inline]] static std::size_t tail_bytes(taken argument) noexcept { return argument.text.size(); }
  [[gnu::always_inline]] static void store(std::byte* fixed, std::byte*& tail, taken argument) noexcept {
    store_as(fixed, argument.address);
    store_string(fixed + sizeof(const void*), tail, argument.text);
  }
  static value load(const std::byte* fixed, const std::byte*& tail) noexcept {
    const auto* const address = load_as<const void*>(fixed);
    return {load_string(fixed + sizeof(const void*), tail), address};
  }
};

// A tuple that is cheap to compile.
template <std::size_t Index, class T>
struct value_leaf {
  T value;
};
template <class Indices, class... T>
struct value_list_of;
template <std::size_t... Index, class... T>
struct value_list_of<std::index_sequence<Index...>, T...> : value_leaf<Index, T>... {};
template <class... T>
struct value_list : value_list_of<std::index_sequence_for<T...>, T...> {};
template <std::size_t Index, class T>
[[gnu::always_inline]] constexpr const T& value_at(const value_leaf<Index, T>& leaf) noexcept {
  return leaf.value;
}

/// Arguments of a statement as they were taken: strings measured once, everything else by reference. Lives no longer than the full
/// expression of the call. Always inlined: a log statement calls nothing.
template <bool KeepAddress, class... A>
class captured {
 public:
  [[gnu::always_inline]] explicit captured(const A&... arguments) noexcept : values_{{{codec<A, KeepAddress>::take(arguments)}...}} {}

  /// Bytes that store() writes; a constant unless there are strings. A record that could be 4 GiB long may not be stored.
  [[gnu::always_inline]] std::size_t bytes() const noexcept { return bytes_of(std::index_sequence_for<A...>{}); }

  /// Writes the encoded arguments to `place`.
  [[gnu::always_inline]] void store(std::byte* place) const noexcept { store_at(place, std::index_sequence_for<A...>{}); }

  const auto& values() const noexcept { return values_; }

  /// Reads back what store() wrote.
  static auto load(const std::byte* place) noexcept { return load_from(place, std::index_sequence_for<A...>{}); }

 private:
  static constexpr std::size_t fixed_bytes = (std::size_t{0} + ... + codec<A, KeepAddress>::fixed_bytes);
  static constexpr std::size_t offset_of(std::size_t index) {
    constexpr std::size_t sizes[] = {codec<A, KeepAddress>::fixed_bytes..., 0};
    std::size_t offset = 0;
    for (std::size_t i = 0; i != index; ++i) offset += sizes[i];
    return offset;
  }

  template <std::size_t... Index>
  [[gnu::always_inline]] std::size_t bytes_of(std::index_sequence<Index...>) const noexcept {
    return (fixed_bytes + ... + codec<A, KeepAddress>::tail_bytes(value_at<Index>(values_)));
  }
  template <std::size_t... Index>
  [[gnu::always_inline]] void store_at(std::byte* place, std::index_sequence<Index...>) const noexcept {
    [[maybe_unused]] std::byte* tail = place + fixed_bytes;
    (codec<A, KeepAddress>::store(place + offset_of(Index), tail, value_at<Index>(values_)), ...);
  }
  template <std::size_t... Index>
  static auto load_from(const std::byte* place, std::index_sequence<Index...>) noexcept {
    [[maybe_unused]] const std::byte* tail = place + fixed_bytes;
    // Braces: left to right, as the tails follow each other.
    return value_list<typename codec<A, KeepAddress>::value...>{{{codec<A, KeepAddress>::load(place + offset_of(Index), tail)}...}};
  }

  value_list<typename codec<A, KeepAddress>::taken...> values_;
};

}  // namespace detail
}  // namespace penstock
