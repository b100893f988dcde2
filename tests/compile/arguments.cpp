// SPDX-License-Identifier: MIT
// What may be an argument. Without a switch this compiles; each switch breaks one statement.
#include <penstock/log.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

// BREAK_1: an argument can't be logged
// BREAK_2: trivially copyable
// BREAK_3: an argument can't be logged
// BREAK_4: constant expression

namespace shapes {

struct known {
  int value = 0;
};
struct unknown {
  int value = 0;
};
#if defined(BREAK_2)
struct deferred {
  std::string text;
};
#else
struct deferred {
  int text = 0;
};
#endif
enum class colour : std::uint8_t { red };

}  // namespace shapes

template <>
struct fmt::formatter<shapes::known> : fmt::formatter<int> {
  auto format(const shapes::known& value, fmt::format_context& context) const { return fmt::formatter<int>::format(value.value, context); }
};
template <>
struct fmt::formatter<shapes::deferred> : fmt::formatter<int> {
  auto format(const shapes::deferred&, fmt::format_context& context) const { return fmt::formatter<int>::format(0, context); }
};
template <>
struct fmt::formatter<shapes::colour> : fmt::formatter<int> {
  auto format(shapes::colour value, fmt::format_context& context) const {
    return fmt::formatter<int>::format(static_cast<int>(value), context);
  }
};
template <>
inline constexpr bool penstock::defer<shapes::deferred> = true;

#if defined(BREAK_1)
using one = shapes::unknown;
#else
using one = shapes::known;
#endif
#if defined(BREAK_3)
using three = const int*;  // an address is logged as const void*, so that nobody logs one by mistake
#else
using three = const void*;
#endif
#if defined(BREAK_4)
using four = std::string;
#else
using four = penstock::runtime_format;
#endif

void log_arguments(const one& first, three third, const four& fourth, std::unique_ptr<int> owner) {
  PENSTOCK_INFO("{} {} {}", first, third, shapes::colour::red);
  PENSTOCK_INFO("{}", shapes::deferred{});
  penstock::info(fourth, first, shapes::colour::red);
  struct {
    unsigned bits : 3;
    bool flag : 1;
  } const packed{5, true};
  PENSTOCK_INFO("{} {}", packed.bits, packed.flag);
  char writable[8] = "text";
  const char* none = nullptr;
  PENSTOCK_INFO("{} {} {} {:p}", writable, none, std::string_view("view"), fmt::ptr(owner));
  PENSTOCK_INFO("{} {} {}", std::move(owner) != nullptr, nullptr, 1.5L);
  PENSTOCK_INFO("{name}", fmt::arg("name", 5));
}
