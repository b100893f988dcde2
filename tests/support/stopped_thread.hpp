// SPDX-License-Identifier: MIT
// One thread of this process stands still, wherever it is: what a signal cannot do (SIGSTOP stops them all). A process of its own traces
// it.
#pragma once

#include <dirent.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "tests/support/temp_folder.hpp"

namespace penstock::testing {

/// The id of the thread of that name; 0: there is none.
inline pid_t thread_named(const std::string& name) {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    if (std::filesystem::path file = task.path() / "comm"; std::filesystem::exists(file)) {
      std::string found;
      std::getline(std::ifstream(file), found);
      if (found == name) return static_cast<pid_t>(std::atoi(task.path().filename().c_str()));
    }
  return 0;
}

/// The thread goes on when this goes, or when the test dies.
class stopped_thread {
 public:
  explicit stopped_thread(pid_t thread) {
    int word[2] = {-1, -1};  // the end of the test, or its word
    int answer[2] = {-1, -1};
    int permit[2] = {-1, -1};
    if (::pipe(word) != 0 || ::pipe(answer) != 0 || ::pipe(permit) != 0) return;
    keeper_ = ::fork();
    if (keeper_ == 0) {
      ::close(word[1]);
      ::close(answer[0]);
      ::close(permit[1]);
      char go = 0;
      keep(thread, ::read(permit[0], &go, 1) == 1, word[0], answer[1]);
    }
    ::prctl(PR_SET_PTRACER, keeper_);  // For kernels on which only ancestors may trace.
    static_cast<void>(::write(permit[1], "g", 1) == 1);
    for (const int fd : {word[0], answer[1], permit[0], permit[1]}) ::close(fd);
    word_ = word[1];
    if (::read(answer[0], &error_, sizeof error_) != sizeof error_) error_ = EIO;
    ::close(answer[0]);
  }
  ~stopped_thread() { go_on(); }
  stopped_thread(const stopped_thread&) = delete;
  stopped_thread& operator=(const stopped_thread&) = delete;

  /// Why it does not stand still, as a sentence for GTEST_SKIP; empty: it does.
  std::string refused() const {
    return error_ == 0 ? std::string() : "SKIPPED: a thread cannot be traced here (ptrace): " + std::generic_category().message(error_);
  }
  void go_on() {
    if (keeper_ <= 0) return;
    ::close(word_);
    ::waitpid(keeper_, nullptr, 0);
    keeper_ = -1;
  }

 private:
  // Only system calls, since the test has threads.
  [[noreturn]] static void keep(pid_t thread, bool permitted, int word, int answer) {
    int error = 0;
    if (!permitted || ::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0 || ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0)
      error = errno;
    int status = 0;
    if (error == 0 && ::waitpid(thread, &status, __WALL) != thread) error = errno;
    static_cast<void>(::write(answer, &error, sizeof error) == sizeof error);
    char nothing = 0;
    while (error == 0 && ::read(word, &nothing, 1) < 0 && errno == EINTR) {
    }
    ::ptrace(PTRACE_DETACH, thread, nullptr, nullptr);
    ::_exit(0);
  }

  pid_t keeper_ = -1;
  int error_ = EIO;
  int word_ = -1;
};

}  // namespace penstock::testing
