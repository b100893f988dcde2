// SPDX-License-Identifier: MIT
// Keeps the two signals that a write can raise against its own thread away from a thread that is not ours.
#pragma once

#include <csignal>

namespace penstock::os {

/// While it lives, SIGPIPE and SIGXFSZ that this thread's writes raise neither end the process nor run a handler; they are taken back at
/// the end. For writes on the caller's threads: the backend thread has all signals masked anyway. Costs two to four system calls.
///
/// Thread: belongs to the thread that made it.
/// Source: man 7 signal (both are sent to the writing thread); EPIPE and EFBIG tell the same by errno.
class write_signal_guard {
 public:
  write_signal_guard() noexcept;
  ~write_signal_guard();
  write_signal_guard(const write_signal_guard&) = delete;
  write_signal_guard& operator=(const write_signal_guard&) = delete;

 private:
  sigset_t former_{};
  sigset_t ours_{};  ///< those that were not pending before, which therefore came from our write
  bool masked_ = false;
};

}  // namespace penstock::os
