// SPDX-License-Identifier: MIT
// Waiting for what must happen. A test says what it waits for, never how long that may take: only a hang comes to the end of the patience.
#pragma once

#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <thread>

namespace penstock::testing {

/// Less than the time after which CTest ends a test (tests/CMakeLists.txt), so that the test can say what it waited for.
inline constexpr std::chrono::minutes patience(4);

/// True as soon as `holds()` does; false when the patience is over.
template <class Holds>
bool eventually(Holds holds, std::chrono::milliseconds between_looks = std::chrono::milliseconds(1)) {
  const auto give_up_at = std::chrono::steady_clock::now() + patience;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > give_up_at) return false;
    std::this_thread::sleep_for(between_looks);  // Between two looks, so that the others get the processor.
  }
  return true;
}

/// What threads cost, by the kernel's count: it does not matter how many others want the processors meanwhile.
struct thread_cost {
  std::int64_t cpu_us = 0;
  std::int64_t naps = 0;  ///< how often one of them gave its processor up by itself

  static thread_cost of(int who) {
    rusage now{};
    ::getrusage(who, &now);
    return {(now.ru_utime.tv_sec + now.ru_stime.tv_sec) * 1'000'000 + now.ru_utime.tv_usec + now.ru_stime.tv_usec, now.ru_nvcsw};
  }
  /// Of all threads of this process but the calling one.
  static thread_cost of_the_others() {
    const thread_cost all = of(RUSAGE_SELF);
    const thread_cost own = of(RUSAGE_THREAD);
    return {all.cpu_us - own.cpu_us, all.naps - own.naps};
  }
};

/// True once there was a `span` in which the other threads of this process cost no more than `most` together.
inline bool others_come_to_rest(std::chrono::milliseconds span, thread_cost most) {
  return eventually([&] {
    const thread_cost before = thread_cost::of_the_others();
    std::this_thread::sleep_for(span);  // What is measured is the cost of this time.
    const thread_cost after = thread_cost::of_the_others();
    return after.cpu_us - before.cpu_us <= most.cpu_us && after.naps - before.naps <= most.naps;
  });
}

}  // namespace penstock::testing
