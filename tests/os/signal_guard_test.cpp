// SPDX-License-Identifier: MIT
#include "lib/os/signal_guard.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::os {
namespace {

using penstock::testing::status_of_child;

bool write_to_closed_pipe() {
  std::array<int, 2> fds{};
  if (::pipe(fds.data()) != 0) return false;
  ::close(fds[0]);
  const bool refused = ::write(fds[1], "x", 1) < 0 && errno == EPIPE;
  ::close(fds[1]);
  return refused;
}

TEST(WriteSignalGuard, LetsNobodyDieOfAClosedPipe) {
  EXPECT_EQ(status_of_child([] {
              std::signal(SIGPIPE, SIG_DFL);
              const write_signal_guard guard;
              return write_to_closed_pipe() ? 0 : 1;
            }),
            0);
  EXPECT_EQ(status_of_child([] {
              std::signal(SIGPIPE, SIG_DFL);
              return write_to_closed_pipe() ? 0 : 1;
            }),
            -SIGPIPE)
      << "without the guard the child would have died";
}

TEST(WriteSignalGuard, LetsNobodyDieOfTheFileSizeLimit) {
  const penstock::testing::temp_folder folder;
  EXPECT_EQ(status_of_child([&] {
              std::signal(SIGXFSZ, SIG_DFL);
              const rlimit limit{0, RLIM_INFINITY};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              const int fd = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
              const write_signal_guard guard;
              return ::write(fd, "x", 1) < 0 && errno == EFBIG ? 0 : 1;
            }),
            0);
}

TEST(WriteSignalGuard, LeavesASignalThatWasPendingBefore) {
  EXPECT_EQ(status_of_child([] {
              sigset_t pipe_signal;
              sigemptyset(&pipe_signal);
              sigaddset(&pipe_signal, SIGPIPE);
              pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
              pthread_kill(pthread_self(), SIGPIPE);
              {
                const write_signal_guard guard;
                write_to_closed_pipe();
              }
              sigset_t pending;
              sigpending(&pending);
              return sigismember(&pending, SIGPIPE) == 1 ? 0 : 1;
            }),
            0);
}

TEST(WriteSignalGuard, PutsTheMaskAndErrnoBack) {
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  {
    const write_signal_guard guard;
    write_to_closed_pipe();
    errno = EPIPE;
  }
  EXPECT_EQ(errno, EPIPE);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  EXPECT_EQ(sigismember(&before, SIGPIPE), sigismember(&after, SIGPIPE));
  EXPECT_EQ(sigismember(&before, SIGXFSZ), sigismember(&after, SIGXFSZ));
}

}  // namespace
}  // namespace penstock::os
