// SPDX-License-Identifier: MIT
#include "lib/os/futex.hpp"

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace penstock::os {

void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::chrono::nanoseconds timeout) noexcept {
  timespec relative{};
  timespec* limit = nullptr;
  if (timeout != std::chrono::nanoseconds::max()) {
    if (timeout.count() <= 0) return;
    relative.tv_sec = static_cast<time_t>(timeout.count() / 1'000'000'000);
    relative.tv_nsec = static_cast<long>(timeout.count() % 1'000'000'000);
    limit = &relative;
  }
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, limit, nullptr, 0);
}

void futex_wake(const std::atomic<std::uint32_t>& word, int count) noexcept {
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count, nullptr, nullptr, 0);
}

namespace {
// Not a function-local static: a fork could leave its guard locked.
std::atomic<bool> membarrier_works{false};
}  // namespace

void membarrier_register() noexcept { membarrier_works = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0; }

bool membarrier_available() noexcept { return membarrier_works.load(std::memory_order_relaxed); }

void membarrier_all() noexcept { ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0); }

}  // namespace penstock::os
