// SPDX-License-Identifier: MIT
#include <penstock/detail/real.hpp>

#include <fmt/compile.h>

namespace penstock::detail {

char* put_real_by_fmt(char* place, double value) { return fmt::format_to(place, FMT_COMPILE("{}"), value); }
char* put_real_by_fmt(char* place, float value) { return fmt::format_to(place, FMT_COMPILE("{}"), value); }
char* put_fixed_by_fmt(char* place, double value, std::uint32_t places) {
  return fmt::format_to(place, FMT_COMPILE("{:.{}f}"), value, places);
}

}  // namespace penstock::detail
