// SPDX-License-Identifier: MIT
#include "detail/laid_out.hpp"

#include <fmt/chrono.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace shapes {

struct point {
  int x = 0;
  int y = 0;
};
struct name {
  std::string text;
};
enum class colour : std::uint8_t { red, green };

}  // namespace shapes

template <>
inline constexpr bool penstock::defer<shapes::point> = true;

template <>
struct fmt::formatter<shapes::point> : fmt::formatter<int> {
  auto format(const shapes::point& value, fmt::format_context& context) const {
    return fmt::format_to(context.out(), "({}, {})", value.x, value.y);
  }
};
template <>
struct fmt::formatter<shapes::name> : fmt::formatter<std::string> {
  auto format(const shapes::name& value, fmt::format_context& context) const {
    return fmt::formatter<std::string>::format(value.text, context);
  }
};
template <>
struct fmt::formatter<shapes::colour> : fmt::formatter<std::string_view> {
  auto format(shapes::colour value, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(value == shapes::colour::red ? "red" : "green", context);
  }
};

namespace penstock::detail {
namespace {

using testing::laid_out;

TEST(Layout, LiteralsAreCopiedAndDoubledBracesAreOne) {
  EXPECT_AS_FMT("");
  EXPECT_AS_FMT("x");
  EXPECT_AS_FMT("nothing but text, longer than one block of thirty-two bytes");
  EXPECT_AS_FMT("{{");
  EXPECT_AS_FMT("}}");
  EXPECT_AS_FMT("{{}}{{{{}}}}");
  EXPECT_AS_FMT("a{{b}}c {} d{{{}}}e", 1, 2);
}

TEST(Layout, TheNulsOfALiteralAreKept) { EXPECT_EQ(laid_out(PENSTOCK_DETAIL_FORMAT("a\0b {}"), 1), std::string("a\0b 1", 5)); }

TEST(Layout, EachArithmeticTypeIsLaidOutAsByFmt) {
  EXPECT_AS_FMT("{} {} {} {}", true, false, 'x', '\0');
  EXPECT_AS_FMT("{} {} {}", static_cast<signed char>(-128), static_cast<unsigned char>(255), static_cast<short>(-32768));
  EXPECT_AS_FMT("{} {} {}", static_cast<unsigned short>(65535), std::numeric_limits<int>::min(), std::numeric_limits<unsigned>::max());
  EXPECT_AS_FMT("{} {} {}", std::numeric_limits<long>::min(), std::numeric_limits<unsigned long>::max(), 0L);
  EXPECT_AS_FMT("{} {}", std::numeric_limits<long long>::min(), std::numeric_limits<unsigned long long>::max());
  EXPECT_AS_FMT("{} {} {} {}", 1.5F, 2.25, 3.125L, std::numeric_limits<double>::max());
}

TEST(Layout, EachKindOfStringIsLaidOutAsByFmt) {
  const std::string string = "string";
  const std::string_view view = "view";
  const char* const pointer = "pointer";
  char writable[] = "writable";
  char* const writable_pointer = writable;
  EXPECT_AS_FMT("{} {} {} {} {} {}", string, view, pointer, "literal", writable, writable_pointer);
  EXPECT_AS_FMT("{} {}", fmt::string_view("fmt's view"), std::string());
  EXPECT_AS_FMT("{:s} {:>20} {:.3} {:*^30.4}", string, view, pointer, "literal");
}

TEST(Layout, AStringWithANulIsKeptWhole) {
  using namespace std::string_literals;
  using namespace std::string_view_literals;
  EXPECT_AS_FMT("{} {}", "a\0b"s, "c\0d"sv);
}

TEST(Layout, ANullCStringIsNamedAsSuch) {
  const char* const none = nullptr;
  EXPECT_EQ(laid_out(PENSTOCK_DETAIL_FORMAT("[{}] [{:>8}] [{:.3}]"), none, none, none), "[(null)] [  (null)] [(nu]");
  EXPECT_EQ(laid_out(PENSTOCK_DETAIL_FORMAT("{:p}"), none), "0x0");
}

TEST(Layout, AnArrayWithoutANulEndsWithTheArray) {
  const char full[4] = {'a', 'b', 'c', 'd'};
  EXPECT_EQ(laid_out(PENSTOCK_DETAIL_FORMAT("[{}]"), full), "[abcd]");
}

TEST(Layout, AddressesAreLaidOutAsByFmt) {
  int place = 0;
  const void* const address = &place;
  void* const writable = &place;
  const char* const text = "text";
  EXPECT_AS_FMT("{} {} {} {:p} {:>20}", address, writable, nullptr, address, address);
  EXPECT_AS_FMT("{:p} {:>20p} {}", text, text, text);
  EXPECT_AS_FMT("{} {}", fmt::ptr(&place), nullptr);
}

TEST(Layout, ABitFieldCanBeLaidOut) {
  struct {
    unsigned three : 3;
    int signed_five : 5;
  } bits{5, -3};
  EXPECT_EQ(laid_out(PENSTOCK_DETAIL_FORMAT("{} {}"), bits.three, bits.signed_five), "5 -3");
}

TEST(Layout, WhatIsVolatileCanBeLaidOut) {
  volatile int number = 5;
  volatile double real = 1.5;
  volatile bool flag = true;
  EXPECT_EQ(laid_out(PENSTOCK_DETAIL_FORMAT("{} {} {:>6} {:>{}}"), number, real, flag, number, number), "5 1.5   true     5");
  EXPECT_EQ(laid_out(PENSTOCK_DETAIL_FORMAT("{} {}"), number, shapes::name{"text"}), "5 text");
}

TEST(Layout, PositionsMayRepeatAndComeInAnyOrder) {
  EXPECT_AS_FMT("{1} {0} {1}", 7, "text");
  EXPECT_AS_FMT("{0:>5} {0:<5}|{2}", 7, "never shown", 1.5);
  EXPECT_AS_FMT("{0:%S} {1:%M}", std::chrono::seconds(5), std::chrono::minutes(3));
  EXPECT_AS_FMT("only the first: {}", 1, 2, 3);
}

TEST(Layout, ADynamicWidthOrPrecisionIsTakenFromAnArgument) {
  EXPECT_AS_FMT("{:>{}} {:.{}f}|{:{}.{}}", 5, 10, 1.23456, 2, "string", 12, 3);
  EXPECT_AS_FMT("{0:>{1}}|{2:p}", 5, 10, "c string");
}

TEST(Layout, ANamedArgumentIsLaidOutByItsCaller) {
  static_assert(!all_deferrable<int, decltype(fmt::arg("x", 1))>);
  EXPECT_AS_FMT("{x} {y}", fmt::arg("y", 1), fmt::arg("x", 2));
}

TEST(Layout, DebugAndLocaleFormsAreLaidOutAsByFmt) {
  EXPECT_AS_FMT("{:?} {:?}", "a\n\"b\"", 'x');
  EXPECT_AS_FMT("{:L} {:L}", 1234567, 1.5);
}

TEST(Layout, TimesAreDeferredAndLaidOutAsByFmt) {
  using namespace std::chrono_literals;
  const auto now = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  static_assert(all_deferrable<std::chrono::nanoseconds, decltype(now), std::chrono::duration<double>> &&
                !has_user_types<std::chrono::nanoseconds, decltype(now)>);
  EXPECT_AS_FMT("{} {} {} {:%H:%M:%S}", 5s, 1500us, std::chrono::duration<double>(1.5), 3661s);
  EXPECT_AS_FMT("{:%Y-%m-%d %H:%M:%S}|{:>12}", now, 7ms);
}

TEST(Layout, AUserTypeIsDeferredOnlyIfItSaysSo) {
  static_assert(all_deferrable<shapes::point, shapes::colour> && !all_deferrable<shapes::name> && !all_deferrable<std::vector<int>>);
  static_assert(has_user_types<int, shapes::point> && has_user_types<shapes::colour> && has_user_types<shapes::name>);
  static_assert(!has_user_types<int, double, std::string, const char*, char[5]>);
  EXPECT_AS_FMT("{} and {}", shapes::point{1, 2}, shapes::point{-3, 4});
  EXPECT_AS_FMT("{} {:>8} {}", shapes::colour::red, shapes::colour::green, 5);
  EXPECT_AS_FMT("{} {:>8} {}", shapes::name{"a"}, shapes::name{"b"}, std::vector<int>{1, 2, 3});
  EXPECT_AS_FMT("{} {}", fmt::join(std::vector<int>{1, 2}, "-"), std::string("tail"));
}

TEST(Layout, ColumnsAreMeasuredAsByFmt) {
  for (const std::string_view text :
       {"", "a", "seven77", "eight888", "longer than the column", "\xc3\xa4\xc3\xb6", "\xe4\xbd\xa0\xe5\xa5\xbd", "\xff", "a\x7f\t"}) {
    EXPECT_AS_FMT("[{:8}] [{:<8}] [{:>8}] [{:^8}]", text, text, text, text);
    EXPECT_AS_FMT("[{:1}] [{:<300}] [{:\xe2\x82\xac<12}]", text, text, text);
  }
}

// Widths and precisions beyond what is laid out in place; each is laid out in room of exactly the size that it asks for.
TEST(Layout, LargeWidthsAndPrecisionsFitTheRoomThatIsAskedFor) {
  EXPECT_AS_FMT("{:1024} {:1025} {:>5000}", 1, 2, "text");
  EXPECT_AS_FMT("{:.1024f} {:.1100f} {:.400e} {:#.300g}", 1.1, 1.1, 1e300, 1e-300);
  EXPECT_AS_FMT("{:\xf0\x9f\x98\x80>40} {:\xf0\x9f\x98\x80^41}", 7, "text");
}

TEST(Layout, TheLongestTextOfEachFormFitsTheRoomThatIsAskedFor) {
  const double largest = -std::numeric_limits<double>::max();
  const double smallest = -std::numeric_limits<double>::denorm_min();
  for (const double value :
       {largest, smallest, -1.2345678901234567e-4, -1.7976931348623157e15, 0.0, -0.0, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_AS_FMT("{}|{:f}|{:F}|{:e}|{:E}|{:g}|{:G}|{:a}|{:A}", value, value, value, value, value, value, value, value, value);
    EXPECT_AS_FMT("{:#}|{:+}|{: }|{:030}|{:.0f}|{:.1f}|{:.6f}|{:.17}|{:#.17g}", value, value, value, value, value, value, value, value,
                  value);
    EXPECT_AS_FMT("{}|{:f}|{:#}", static_cast<float>(value), static_cast<float>(value), static_cast<float>(value));
    EXPECT_AS_FMT("{}|{:f}|{:.3f}", static_cast<long double>(value), static_cast<long double>(value), static_cast<long double>(value));
  }
  for (const long long value : {std::numeric_limits<long long>::min(), std::numeric_limits<long long>::max(), 0LL}) {
    EXPECT_AS_FMT("{}|{:b}|{:#b}|{:#B}|{:o}|{:#o}|{:x}|{:#X}|{:+d}|{:080b}", value, value, value, value, value, value, value, value, value,
                  value);
    EXPECT_AS_FMT("{:d}|{:b}|{:#x}|{:5}", value != 0, value != 0, value != 0, value != 0);
    EXPECT_AS_FMT("{:d}|{:b}|{:#x}|{:5}|{:c}", 'x', 'x', '\xff', 'x', 65);
  }
}

TEST(Layout, StringsOfEachLengthFitTheRoomThatIsAskedFor) {
  for (std::size_t bytes = 0; bytes <= 2100; bytes += bytes < 70 ? 1 : 17) {
    const std::string text(bytes, 'x');
    EXPECT_AS_FMT("{}|{:<33}|{:.40}|{}", text, text, text, bytes);
    EXPECT_AS_FMT("{}|{}|{}", text, shapes::point{static_cast<int>(bytes), 0}, text);
  }
}

}  // namespace
}  // namespace penstock::detail
