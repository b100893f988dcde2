// SPDX-License-Identifier: MIT
// Between the members of penstock::config and the table's values: one instantiation of `access` for each member.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <type_traits>

#include "lib/config/key_table.hpp"

namespace penstock::detail {

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

template <class T>
inline constexpr bool is_number = std::is_enum_v<T> || (std::is_integral_v<T> && !std::is_same_v<T, bool>);

template <class T>
value to_value(const T& from) {
  if constexpr (is_optional<T>::value) {
    return from ? to_value(*from) : value{};
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return from.string();
  } else if constexpr (is_number<T>) {
    // What is beyond the signed range is beyond every limit too, so that it may be cut off here.
    if constexpr (std::is_same_v<T, std::uint64_t>) return static_cast<std::int64_t>(std::min(from, std::uint64_t{INT64_MAX}));
    return static_cast<std::int64_t>(from);
  } else {
    static_assert(std::is_constructible_v<value, const T&>);
    return value{from};
  }
}

template <class T>
T from_value(const value& from) {
  if constexpr (is_optional<T>::value) {
    return std::holds_alternative<std::monostate>(from) ? T{} : T{from_value<typename T::value_type>(from)};
  } else if constexpr (std::is_same_v<T, std::filesystem::path>) {
    return std::get<std::string>(from);
  } else if constexpr (is_number<T>) {
    return static_cast<T>(std::get<std::int64_t>(from));
  } else {
    return std::get<T>(from);
  }
}

/// Reads and writes the member that a pointer to member names.
template <auto member>
struct access;

template <class Owner, class T, T Owner::*member>
struct access<member> {
  static value read(const_owner from) { return to_value(std::get<const Owner*>(from)->*member); }
  static void write(owner to, const value& from) { std::get<Owner*>(to)->*member = from_value<T>(from); }
};

}  // namespace penstock::detail
