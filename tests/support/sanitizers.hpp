// SPDX-License-Identifier: MIT
// Which sanitizer watches this build: g++ tells by macros, clang 14 by features.
#pragma once

#ifndef __has_feature
#define __has_feature(feature) 0  // NOLINT: as clang's manual has it for other compilers
#endif

namespace penstock::testing {

#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
inline constexpr bool under_asan = true;
#else
inline constexpr bool under_asan = false;
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
inline constexpr bool under_tsan = true;
#else
inline constexpr bool under_tsan = false;
#endif

/// Seen with g++ 12, 2026-12.
inline constexpr const char* tsan_and_forks =
    "the thread sanitizer ends a forked child of a process with threads when it starts a thread; with die_after_fork=0 it ends it as well, "
    "since the new thread has the number of one that is not there (\"dup thread with used id\")";

inline constexpr bool sanitized = under_asan || under_tsan;

}  // namespace penstock::testing
