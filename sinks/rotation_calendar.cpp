// SPDX-License-Identifier: MIT
#include "sinks/rotation_calendar.hpp"

#include <time.h>

#include <cstdint>

namespace penstock::sinks {
namespace {

using std::chrono::system_clock;

/// A number that grows by one with each local hour, date or week. An hour that runs twice, since summer time ends, is one.
std::int64_t period_number(std::int64_t second, rotate_period period) noexcept {
  using namespace std::chrono;
  const auto moment = static_cast<time_t>(second);
  tm civil{};
  if (::localtime_r(&moment, &civil) == nullptr) return 0;
  const sys_days date =
      year_month_day(year(civil.tm_year + 1900), month(static_cast<unsigned>(civil.tm_mon + 1)), day(static_cast<unsigned>(civil.tm_mday)));
  const std::int64_t days_since_1970 = date.time_since_epoch().count();
  switch (period) {
    case rotate_period::hour:
      return days_since_1970 * 24 + civil.tm_hour;
    case rotate_period::week: {
      const std::int64_t from_a_monday = days_since_1970 + 3;  // 1970-01-01 was a Thursday
      return (from_a_monday - (civil.tm_wday + 6) % 7) / 7;
    }
    default:
      return days_since_1970;
  }
}

/// Longer than any such period ever was, the hour or the day that a zone skipped or repeated included.
constexpr std::int64_t seconds_max(rotate_period period) noexcept {
  constexpr std::int64_t hour = 3600;
  constexpr std::int64_t day = 24 * hour;
  switch (period) {
    case rotate_period::hour:
      return 4 * hour;
    case rotate_period::week:
      return 10 * day;
    default:
      return 3 * day;
  }
}

}  // namespace

system_clock::time_point next_turn(system_clock::time_point now, rotate_period period) noexcept {
  if (period == rotate_period::never) return system_clock::time_point::max();
  std::int64_t before = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::int64_t present = period_number(before, period);
  std::int64_t behind = before + seconds_max(period);
  while (behind - before > 1) {
    const std::int64_t middle = before + (behind - before) / 2;
    (period_number(middle, period) > present ? behind : before) = middle;
  }
  return system_clock::time_point(std::chrono::seconds(behind));
}

}  // namespace penstock::sinks
