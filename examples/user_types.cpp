// SPDX-License-Identifier: MIT
// How are values of my own types logged? By their fmt::formatter. The caller turns them into text, unless the type says that a copy of its
// bytes can wait for the backend thread (penstock::defer).
#include <fmt/ranges.h>

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include <penstock/penstock.hpp>

struct customer {  // holds a string: always laid out by the caller
  std::string name;
  int number;
};
template <>
struct fmt::formatter<customer> : fmt::formatter<std::string_view> {
  auto format(const customer& value, fmt::format_context& out) const {
    if (value.number < 0) throw std::invalid_argument("customer without a number");
    return fmt::format_to(out.out(), "{} (no. {})", value.name, value.number);
  }
};

struct price {  // a plain number
  long cents;
};
template <>
struct fmt::formatter<price> : fmt::formatter<std::string_view> {
  auto format(const price& value, fmt::format_context& out) const {
    return fmt::format_to(out.out(), "{}.{:02} EUR", value.cents / 100, value.cents % 100);
  }
};
template <>
inline constexpr bool penstock::defer<price> = true;  // trivially copyable, and points at nothing

int main() {
  penstock::config settings;
  settings.sinks["screen"] = {.type = "console", .pattern = "{level} {message}"};
  penstock::start(settings);

  const customer ada{"Ada", 7};
  PENSTOCK_INFO("{} pays {}", ada, price{1250});
  PENSTOCK_INFO("the last three: {}", std::array{3, 1, 4});  // by fmt/ranges.h

  // A formatter that throws costs its line, not the program.
  PENSTOCK_INFO("and {}", customer{"nobody", -1});
  PENSTOCK_INFO("it goes on");
  return penstock::stop() ? 0 : 1;
}

//> info Ada (no. 7) pays 12.50 EUR
//> info the last three: [3, 1, 4]
//> info and {} [format error: customer without a number]
//> info it goes on
