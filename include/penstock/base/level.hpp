// SPDX-License-Identifier: MIT
// The severity of a record. The order matters: a record passes when its level is at or above the logger's threshold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace penstock {

/// The severity of a record; `off` is a threshold only, never the level of a record.
enum class level : std::uint8_t { trace, debug, info, warning, error, critical, off };

/// The number of levels that a record can have.
inline constexpr std::size_t level_count = 6;

/// The level's name as the config file and the pattern field {level} spell it.
constexpr std::string_view name_of(level value) noexcept {
  constexpr std::string_view names[] = {"trace", "debug", "info", "warning", "error", "critical", "off"};
  return names[static_cast<std::size_t>(value)];
}

}  // namespace penstock
