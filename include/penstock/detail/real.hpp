// SPDX-License-Identifier: MIT
// Lays out float and double whose field is `{}`: the shortest text that reads back as the same value, byte for byte as fmt lays it out.
//
// Most values that are logged (prices, seconds, ratios) are decimals of few digits. These are found by one multiplication and one
// division; fmt's search for the shortest digits took more than half of the time of a line with four arguments. All else goes to fmt.
#pragma once

#include <penstock/detail/plain.hpp>

#include <cfloat>
#include <cstdint>

#include <penstock/base/export.hpp>

namespace penstock::detail {

/// Bytes that put_real may write: sign, 17 digits, point and four zeros behind it, or an exponent.
inline constexpr std::size_t real_bytes_max = 32;

// The test below needs exactly rounded arithmetic.
#if defined(__FAST_MATH__) || defined(__RECIPROCAL_MATH__) || FLT_EVAL_METHOD != 0
inline constexpr bool division_is_exact = false;
#else
inline constexpr bool division_is_exact = true;
#endif

template <class Real>
struct decimal_range;
// All decimals with no more than 15 digits (6 for float) are different doubles (floats), so one that reads back as the value is the
// shortest text of it, once its trailing zeros are gone. Below `smallest` fmt writes an exponent.
template <>
struct decimal_range<double> {
  static constexpr double smallest = 1e-4;
  static constexpr double end = 1e9;
  static constexpr double scale = 1e6;
  static constexpr std::uint32_t places = 6;
};
template <>
struct decimal_range<float> {
  static constexpr float smallest = 1e-4F;
  static constexpr float end = 1e3F;
  static constexpr float scale = 1e3F;
  static constexpr std::uint32_t places = 3;
};

/// The digits behind the point, without trailing zeros; `places` of them are in `fraction`, which is not 0.
template <std::uint32_t places>
inline char* put_fraction(char* place, std::uint32_t fraction) noexcept {
  *place++ = '.';
  if constexpr (places == 3) fraction *= 1000;
  const std::uint32_t high = fraction / 10'000;
  const std::uint32_t rest = fraction % 10'000;
  put_pair(place, high);
  char* end = place + 2;
  if (rest != 0) {
    put_pair(place + 2, rest / 100);
    end += 2;
    if (rest % 100 != 0) {
      put_pair(place + 4, rest % 100);
      end += 2;
    }
  }
  return end[-1] == '0' ? end - 1 : end;
}

/// A point and exactly `places` digits; nothing for no places.
template <std::uint32_t places>
inline char* put_places(char* place, std::uint32_t fraction) noexcept {
  if constexpr (places == 0) return place;
  *place++ = '.';
  std::uint32_t left = places;
  for (; left >= 2; left -= 2) {
    put_pair(place + left - 2, fraction % 100);
    fraction /= 100;
  }
  if (left == 1) *place = static_cast<char>('0' + fraction);
  return place + places;
}

/// fmt's text of a value, with its own choice of digits or with a fixed number of places. Compiled once, in the library.
PENSTOCK_EXPORT char* put_real_by_fmt(char* place, double value);
PENSTOCK_EXPORT char* put_real_by_fmt(char* place, float value);
PENSTOCK_EXPORT char* put_fixed_by_fmt(char* place, double value, std::uint32_t places);

// A program that includes this may warn of such comparisons: here they are meant to the last bit.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"

template <class Real>
inline char* put_real(char* place, Real value) {
  if constexpr (division_is_exact) {
    using range = decimal_range<Real>;
    const Real magnitude = value < 0 ? -value : value;
    if (magnitude >= range::smallest && magnitude < range::end) [[likely]] {
      const auto scaled = static_cast<std::uint64_t>(static_cast<std::int64_t>(magnitude * range::scale + Real(0.5)));
      if (static_cast<Real>(static_cast<std::int64_t>(scaled)) / range::scale == magnitude) [[likely]] {
        if (value < 0) *place++ = '-';
        constexpr auto scale = static_cast<std::uint64_t>(range::scale);
        const auto whole = static_cast<std::uint32_t>(scaled / scale);
        const auto fraction = static_cast<std::uint32_t>(scaled % scale);
        place = put_unsigned(place, whole);
        return fraction == 0 ? place : put_fraction<range::places>(place, fraction);
      }
    }
  }
  return put_real_by_fmt(place, value);
}

/// `value` with a fixed number of places, as fmt lays out `{:.2f}`: correctly rounded.
template <std::uint32_t places>
inline char* put_fixed(char* place, double value) {
  static_assert(places <= 6);
  constexpr std::uint32_t scale = static_cast<std::uint32_t>(places == 0 ? 1 : powers_of_ten[places]);
  const double magnitude = value < 0 ? -value : value;
  // value != 0, since the sign of 0 is not seen by a comparison. Up to 1e15, the product and its remainder are multiples of 1/8: only where
  // the remainder is exactly a half can its own rounding have hidden which way to go.
  if (division_is_exact && magnitude < 1e9 && value != 0) [[likely]] {
    const double product = magnitude * scale;
    auto scaled = static_cast<std::int64_t>(product);
    const double remainder = product - static_cast<double>(scaled);
    if (remainder != 0.5) [[likely]] {
      scaled += remainder > 0.5 ? 1 : 0;
      if (value < 0) *place++ = '-';
      place = put_unsigned(place, static_cast<std::uint32_t>(scaled / scale));
      return put_places<places>(place, static_cast<std::uint32_t>(scaled % scale));
    }
  }
  return put_fixed_by_fmt(place, value, places);
}

#pragma GCC diagnostic pop

}  // namespace penstock::detail
