// SPDX-License-Identifier: MIT
// Counts system calls exactly and without privileges: a forked child does the work once more under ptrace(2). Far too slow to time
// anything.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace penstock::bench {

/// Marks, inside the work that count_system_calls() runs, where counting begins and where it ends. Does nothing elsewhere.
void counting_begins() noexcept;
void counting_ends() noexcept;

/// The number of system calls, of all threads, between the two marks of `work`; none where tracing is forbidden or the work failed.
///
/// Thread: call it only while this process has no other thread, since a forked child has none.
std::optional<std::uint64_t> count_system_calls(const std::function<void()>& work);

}  // namespace penstock::bench
