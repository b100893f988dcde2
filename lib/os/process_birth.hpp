// SPDX-License-Identifier: MIT
// Tells a process from a later one with the same pid, in this boot of the machine or another.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace penstock::os {

/// A number made of when process `pid` started and of this boot; 0 if there is no such process, or it is a zombie, or /proc cannot tell.
///
/// Source: man 5 proc, /proc/PID/stat, field 22, and /proc/sys/kernel/random/boot_id.
std::uint64_t process_birth(pid_t pid) noexcept;

/// Whether the process with that pid and birth still runs. With `birth` 0 (not known), any process with that pid counts.
bool process_lives(pid_t pid, std::uint64_t birth) noexcept;

}  // namespace penstock::os
