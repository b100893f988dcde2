// SPDX-License-Identifier: MIT
// Assertions are for our own mistakes, above all where data changes owner. They stay in release builds: there a failed one counts, and the
// caller takes its error path; in Debug builds, tests under sanitizers and fuzzing it ends the process.
#pragma once

#include <cstdint>

namespace penstock::os {

/// Assertions that failed in this process so far.
std::uint64_t failed_assertion_count() noexcept;

/// Says which assertion failed and aborts (PENSTOCK_ASSERTIONS), or counts it.
[[gnu::cold]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

inline bool asserted(bool holds, const char* condition, const char* file, int line) noexcept {
  if (!holds) [[unlikely]]
    assertion_failed(condition, file, line);
  return holds;
}

}  // namespace penstock::os

/// Whether `condition` holds, so that a caller can go on where it does not: if (!PENSTOCK_ASSERT(used_bytes <= room_bytes)) return ...;
#define PENSTOCK_ASSERT(condition) ::penstock::os::asserted(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
