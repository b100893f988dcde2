// SPDX-License-Identifier: MIT
// Things that can only be tried in a process of its own, or that hold for a whole process and must be put back.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace penstock::testing {

/// Runs `body` in a forked child and gives its exit status; -signal if one ended it. What `body` returns is the status.
template <class Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/// All signals masked, as on the backend thread.
class masked_signals {
 public:
  masked_signals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &former_);
  }
  ~masked_signals() {
    const timespec at_once{};
    for (const int signal : {SIGPIPE, SIGXFSZ}) {
      sigset_t one;
      sigemptyset(&one);
      sigaddset(&one, signal);
      sigtimedwait(&one, nullptr, &at_once);
    }
    pthread_sigmask(SIG_SETMASK, &former_, nullptr);
  }
  masked_signals(const masked_signals&) = delete;
  masked_signals& operator=(const masked_signals&) = delete;

 private:
  sigset_t former_{};
};

/// RLIMIT_FSIZE: a true short count at any odd byte, then EFBIG; as if the disk were full there.
class file_size_limit {
 public:
  explicit file_size_limit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    rlimit limited = former_;
    limited.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~file_size_limit() { ::setrlimit(RLIMIT_FSIZE, &former_); }
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;

 private:
  masked_signals masked_{};
  rlimit former_{};
};

}  // namespace penstock::testing
