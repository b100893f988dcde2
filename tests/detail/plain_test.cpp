// SPDX-License-Identifier: MIT
#include <penstock/detail/plain.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>

namespace penstock::detail {
namespace {

template <class Integer>
std::string integer(Integer value) {
  char room[24];
  return {room, put_integer(room, value)};
}

template <class Integer>
class PlainInteger : public ::testing::Test {};
using integers =
    ::testing::Types<signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long, long long, unsigned long long>;
TYPED_TEST_SUITE(PlainInteger, integers);

TYPED_TEST(PlainInteger, BordersOfEachCountOfDigitsAreAsFmtLaysThemOut) {
  using limits = std::numeric_limits<TypeParam>;
  for (const TypeParam value : {limits::min(), limits::max(), TypeParam{0}, static_cast<TypeParam>(limits::min() + 1)})
    EXPECT_EQ(integer(value), fmt::to_string(value));
  for (std::uint64_t power = 1; power != 10'000'000'000'000'000'000U; power *= 10)
    for (const std::uint64_t wide : {power - 1, power, power + 1, 0 - power, 0 - power + 1, 0 - power - 1}) {
      const auto value = static_cast<TypeParam>(wide);
      ASSERT_EQ(integer(value), fmt::to_string(value));
    }
}

TYPED_TEST(PlainInteger, RandomValuesOfEachSizeAreAsFmtLaysThemOut) {
  std::mt19937_64 random(5);
  for (int i = 0; i != 100'000; ++i) {
    const auto value = static_cast<TypeParam>(random() >> (random() % 64));
    ASSERT_EQ(integer(value), fmt::to_string(value));
  }
}

TEST(PlainString, EachLengthIsCopiedWithoutTouchingItsNeighbours) {
  for (std::size_t bytes = 0; bytes != 200; ++bytes) {
    const std::unique_ptr<char[]> source(new char[bytes]);  // of exactly this size: the address sanitizer watches
    for (std::size_t i = 0; i != bytes; ++i) source[i] = static_cast<char>('a' + i % 26);
    const std::unique_ptr<char[]> target(new char[bytes]);
    const char* const end = put_string(target.get(), {source.get(), bytes});
    EXPECT_EQ(end, target.get() + bytes);
    EXPECT_EQ(std::string_view(target.get(), bytes), std::string_view(source.get(), bytes));
  }
}

}  // namespace
}  // namespace penstock::detail
