// SPDX-License-Identifier: MIT
#include <penstock/detail/real.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tests/support/sanitizers.hpp"

namespace penstock::detail {
namespace {

// A sanitizer looks at each step, not at values: fewer of them take the same steps.
constexpr int fewer = penstock::testing::sanitized ? 10 : 1;

template <class Real>
::testing::AssertionResult is_as_fmt(Real value) {
  char room[real_bytes_max];
  const std::string_view text(room, static_cast<std::size_t>(put_real(room, value) - room));
  char wanted[64];
  const std::string_view right(wanted, static_cast<std::size_t>(fmt::format_to(wanted, "{}", value) - wanted));
  if (text == right) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "laid out as " << text << ", by fmt as " << right;
}

template <class Real>
class ShortestReal : public ::testing::Test {};
using reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(ShortestReal, reals);

TYPED_TEST(ShortestReal, DecimalsOfFewPlacesAreAsFmtLaysThemOut) {
  std::mt19937_64 random(1);
  for (int places = 0; places <= 9; ++places) {
    const double scale = std::pow(10.0, places);
    for (int i = 0; i != 15'000 / fewer; ++i) {
      const int digits = static_cast<int>(random() % 17) + 1;
      const auto whole = random() % static_cast<std::uint64_t>(std::pow(10.0, digits));
      const auto value = static_cast<TypeParam>(static_cast<double>(whole) / scale);
      ASSERT_TRUE(is_as_fmt(value));
      ASSERT_TRUE(is_as_fmt(-value));
    }
  }
}

TYPED_TEST(ShortestReal, NeighboursOfDecimalsAreAsFmtLaysThemOut) {
  std::mt19937_64 random(2);
  const TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  for (int i = 0; i != 40'000 / fewer; ++i) {
    const auto value =
        static_cast<TypeParam>(static_cast<double>(random() % 10'000'000'000) / std::pow(10.0, static_cast<double>(random() % 10)));
    ASSERT_TRUE(is_as_fmt(std::nextafter(value, infinity)));
    ASSERT_TRUE(is_as_fmt(std::nextafter(value, -infinity)));
  }
}

TYPED_TEST(ShortestReal, RandomBitsAreAsFmtLaysThemOut) {
  using bits = std::conditional_t<sizeof(TypeParam) == 4, std::uint32_t, std::uint64_t>;
  std::mt19937_64 random(3);
  for (int i = 0; i != 80'000 / fewer; ++i) ASSERT_TRUE(is_as_fmt(std::bit_cast<TypeParam>(static_cast<bits>(random()))));
}

TYPED_TEST(ShortestReal, RandomValuesOfEachSizeAreAsFmtLaysThemOut) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<TypeParam> unit(0, 1);
  for (int exponent = -12; exponent <= 20; ++exponent)
    for (int i = 0; i != 2'000 / fewer; ++i) ASSERT_TRUE(is_as_fmt(unit(random) * static_cast<TypeParam>(std::pow(10.0, exponent))));
}

TYPED_TEST(ShortestReal, BordersAreAsFmtLaysThemOut) {
  using limits = std::numeric_limits<TypeParam>;
  const TypeParam infinity = limits::infinity();
  std::vector<TypeParam> borders{
      0, 1, infinity, limits::quiet_NaN(), limits::min(), limits::max(), limits::denorm_min(), limits::epsilon()};
  for (int power = -30; power <= 30; ++power) {
    borders.push_back(static_cast<TypeParam>(std::pow(10.0, power)));
    borders.push_back(static_cast<TypeParam>(std::pow(10.0, power) - std::pow(10.0, power - 6)));
  }
  for (int power = -60; power <= 70; ++power) borders.push_back(static_cast<TypeParam>(std::ldexp(1.0, power)));
  for (const TypeParam border : borders)
    for (const TypeParam value : {border, std::nextafter(border, infinity), std::nextafter(border, -infinity)}) {
      EXPECT_TRUE(is_as_fmt(value));
      EXPECT_TRUE(is_as_fmt(-value));
    }
}

template <std::uint32_t places>
::testing::AssertionResult fixed_is_as_fmt(double value) {
  char room[400];
  const std::string_view text(room, static_cast<std::size_t>(put_fixed<places>(room, value) - room));
  char wanted[400];
  const std::string_view right(wanted, static_cast<std::size_t>(fmt::format_to(wanted, "{:.{}f}", value, places) - wanted));
  if (text == right) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "laid out as " << text << ", by fmt as " << right;
}

template <class Places>
class FixedReal : public ::testing::Test {};
template <std::uint32_t places>
using constant = std::integral_constant<std::uint32_t, places>;
using all_places = ::testing::Types<constant<0>, constant<1>, constant<2>, constant<3>, constant<4>, constant<5>, constant<6>>;
TYPED_TEST_SUITE(FixedReal, all_places);

TYPED_TEST(FixedReal, TiesAndTheirNeighboursAreRoundedAsByFmt) {
  constexpr std::uint32_t places = TypeParam::value;
  std::mt19937_64 random(6);
  const double infinity = std::numeric_limits<double>::infinity();
  for (int i = 0; i != 10'000 / fewer; ++i) {
    const auto whole = static_cast<double>(random() >> (20 + random() % 44));
    const double tie = (whole + 0.5) / std::pow(10.0, places);
    const double binary = whole / std::ldexp(1.0, static_cast<int>(random() % 12));  // often an exact tie
    for (const double value : {tie, binary, std::nextafter(tie, infinity), std::nextafter(tie, 0.0), std::nextafter(binary, infinity)}) {
      ASSERT_TRUE(fixed_is_as_fmt<places>(value));
      ASSERT_TRUE(fixed_is_as_fmt<places>(-value));
    }
  }
}

TYPED_TEST(FixedReal, RandomValuesAndBordersAreAsFmtLaysThemOut) {
  constexpr std::uint32_t places = TypeParam::value;
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int exponent = -9; exponent <= 12; ++exponent)
    for (int i = 0; i != 1'000 / fewer; ++i) ASSERT_TRUE(fixed_is_as_fmt<places>(unit(random) * std::pow(10.0, exponent)));
  for (int i = 0; i != 10'000 / fewer; ++i) ASSERT_TRUE(fixed_is_as_fmt<places>(std::bit_cast<double>(random())));
  for (const double value : {0.0, -0.0, 0.5, 1e9, std::nextafter(1e9, 0.0), 999999999.9999999, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_TRUE(fixed_is_as_fmt<places>(value));
}

}  // namespace
}  // namespace penstock::detail
