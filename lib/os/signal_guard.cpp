// SPDX-License-Identifier: MIT
#include "lib/os/signal_guard.hpp"

#include <cerrno>
#include <ctime>
#include <initializer_list>

namespace penstock::os {

write_signal_guard::write_signal_guard() noexcept {
  sigset_t pending;
  sigemptyset(&pending);
  sigpending(&pending);
  sigemptyset(&ours_);
  for (const int signal : {SIGPIPE, SIGXFSZ})
    if (sigismember(&pending, signal) == 0) sigaddset(&ours_, signal);
  // One that is pending already is masked already: a second of its kind merges with it, and it is not ours to take.
  masked_ = pthread_sigmask(SIG_BLOCK, &ours_, &former_) == 0;
}

write_signal_guard::~write_signal_guard() {
  if (!masked_) return;
  const int former_errno = errno;
  const timespec at_once{};
  sigset_t pending;
  sigemptyset(&pending);
  // Taken by name, never by waiting for the whole set: a SIGPIPE that somebody sends to the process from outside is as dead as ours.
  if (sigpending(&pending) == 0)
    for (const int signal : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&ours_, signal) != 1 || sigismember(&pending, signal) != 1) continue;
      sigset_t one;
      sigemptyset(&one);
      sigaddset(&one, signal);
      while (sigtimedwait(&one, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
  pthread_sigmask(SIG_SETMASK, &former_, nullptr);
  errno = former_errno;
}

}  // namespace penstock::os
