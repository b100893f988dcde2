// SPDX-License-Identifier: MIT
// When a local hour, day or week turns. Looked for among the civil dates that the time zone gives, never computed by adding hours: days
// have 23, 24 or 25 of them, and some have no midnight.
#pragma once

#include <chrono>

#include <penstock/config.hpp>

namespace penstock::sinks {

/// The first moment after `now` whose local hour, date or week (from Monday on) is a later one; the end of time for `never`.
///
/// The time zone is the one that the process had when tzset(3) ran last.
std::chrono::system_clock::time_point next_turn(std::chrono::system_clock::time_point now, rotate_period period) noexcept;

}  // namespace penstock::sinks
