// SPDX-License-Identifier: MIT
#include "lib/os/assert.hpp"

#include <atomic>
#ifdef PENSTOCK_ASSERTIONS
#include <cstdio>
#include <cstdlib>
#endif

namespace penstock::os {
namespace {

// Read by reports only: nothing is ordered by it.
constinit std::atomic<std::uint64_t> failed_count{0};

}  // namespace

std::uint64_t failed_assertion_count() noexcept { return failed_count.load(std::memory_order_relaxed); }

void assertion_failed([[maybe_unused]] const char* condition, [[maybe_unused]] const char* file, [[maybe_unused]] int line) noexcept {
  failed_count.fetch_add(1, std::memory_order_relaxed);
#ifdef PENSTOCK_ASSERTIONS
  std::fprintf(stderr, "penstock: %s:%d: assertion failed: %s\n", file, line, condition);
  std::abort();
#endif
}

}  // namespace penstock::os
