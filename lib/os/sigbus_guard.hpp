// SPDX-License-Identifier: MIT
// Survives a store to, or a load from, a mapped file that somebody truncated. The kernel answers such an access with SIGBUS; while a guard
// lives, a handler maps anonymous memory over the guarded mapping, notes where it happened, and lets the program go on. Every other SIGBUS
// goes to whoever had the signal before. The surprise: a thread that blocks SIGBUS is killed by a fault whatever the handler does, so each
// thread that touches a guarded mapping calls let_sigbus_through() first.
#pragma once

#include <csignal>
#include <cstddef>
#include <span>

namespace penstock::os {

/// Guards one mapping. The process-wide handler is installed with the first guard and taken back with the last, if it is still the one in
/// place.
///
/// Owner:  the mapping must outlive the guard.
/// Thread: made and destroyed on any thread; hit() and fault_address() from any.
class sigbus_guard {
 public:
  /// Errors: std::system_error if all places (sigbus_guard_count_max) are taken or the handler cannot be installed.
  explicit sigbus_guard(std::span<std::byte> mapping);
  ~sigbus_guard();
  sigbus_guard(const sigbus_guard&) = delete;
  sigbus_guard& operator=(const sigbus_guard&) = delete;

  /// True once a fault was caught: the whole mapping is then private anonymous memory, zero but for what was stored since.
  bool hit() const noexcept;

  /// The address of the access that faulted; null while there was none.
  const std::byte* fault_address() const noexcept;

  /// In a forked child, where the mapping does not exist and another thread may have held our lock: gives the place up without it.
  void forget() noexcept;

 private:
  std::size_t index_;
};

/// How many mappings can be guarded at once: a few rings and rescue files, with room to spare. The handler walks them all.
inline constexpr std::size_t sigbus_guard_count_max = 64;

/// What our handler does first, for a handler that was put on top of it and must not take such a fault for a crash: covers the mapping if
/// the fault lies in a guarded one, and says whether it did. Async-signal-safe.
bool cover_guarded_fault(const siginfo_t& info) noexcept;

/// Unblocks SIGBUS for the calling thread while it lives: for threads that are not ours. The kernel ends a process whose thread faults
/// while it blocks the signal. Costs two system calls.
class sigbus_unblocked {
 public:
  sigbus_unblocked() noexcept;
  ~sigbus_unblocked();
  sigbus_unblocked(const sigbus_unblocked&) = delete;
  sigbus_unblocked& operator=(const sigbus_unblocked&) = delete;

 private:
  sigset_t former_{};
};

/// Unblocks SIGBUS for the calling thread: one system call.
void unblock_sigbus() noexcept;

/// The same once for each thread, for threads that never block it again; costs one load of a thread-local flag afterwards.
void let_sigbus_through() noexcept;

}  // namespace penstock::os
