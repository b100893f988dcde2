// SPDX-License-Identifier: MIT
// Waiting for a word in memory, and the barrier that makes parking cheap for the thread that logs.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace penstock::os {

/// Waits while `word` holds `expected`, at most `timeout` (nanoseconds::max(): without limit). Returns after a wake, a changed value, a
/// signal or the timeout: the caller looks again.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds timeout) noexcept;

/// Wakes up to `count` waiters.
void futex_wake(const std::atomic<std::uint32_t>& word, int count) noexcept;

/// Makes membarrier_all() usable in this process, if the kernel allows it. A forked child calls it anew.
///
/// Thread: before the threads that use the barrier start.
void membarrier_register() noexcept;

/// Whether membarrier_all() works.
bool membarrier_available() noexcept;

/// After it, every thread of the process has executed a full barrier. Does nothing where it is refused: ask membarrier_available() before.
///
/// Source: man 2 membarrier.
void membarrier_all() noexcept;

/// Tells the core that this is a spin loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace penstock::os
