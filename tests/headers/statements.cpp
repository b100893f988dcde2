// SPDX-License-Identifier: MIT
// A statement with each kind of argument, under the warnings of a strict program.
#include <cstdint>
#include <string>
#include <string_view>

#include <penstock/penstock.hpp>

void log_each_kind(const std::string& text, const char* c_text, double real, float small, std::int64_t number);

void log_each_kind(const std::string& text, const char* c_text, double real, float small, std::int64_t number) {
  PENSTOCK_INFO("nothing");
  PENSTOCK_INFO("{} {} {} {}", text, c_text, std::string_view(text), "literal");
  PENSTOCK_INFO("{} {} {:.3f} {:.2f} {:>{}.{}e}", real, small, real, small, real, 10, 3);
  PENSTOCK_ERROR("{} {:x} {:#b} {:>+08}", number, static_cast<std::uint16_t>(1), std::uint8_t{2}, number);
  PENSTOCK_WARNING("{} {} {}", true, 'c', static_cast<const void*>(c_text));
  penstock::info("{} {:.1f} {}", real, small, text);
  penstock::get("strict").critical("{} {}", small, number);
}
