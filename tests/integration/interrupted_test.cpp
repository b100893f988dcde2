// SPDX-License-Identifier: MIT
// Signals all the time, while the log goes into a FIFO that is read slowly.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "tests/engine/running.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

std::atomic<int> signal_count{0};

/// SIGALRM once a millisecond of real time, to whichever thread takes it; calls that it interrupts are not restarted.
class alarms {
 public:
  alarms() {
    struct sigaction action {};
    action.sa_handler = [](int) { ++signal_count; };
    sigemptyset(&action.sa_mask);
    ::sigaction(SIGALRM, &action, nullptr);
    const itimerval often{{0, 1'000}, {0, 1'000}};
    ::setitimer(ITIMER_REAL, &often, nullptr);
  }
  ~alarms() {
    const itimerval never{};
    ::setitimer(ITIMER_REAL, &never, nullptr);
  }
  alarms(const alarms&) = delete;
  alarms& operator=(const alarms&) = delete;
};

struct Interrupted : testing::Running, ::testing::WithParamInterface<const char*> {
  static constexpr int count = 20'000;
  static constexpr int late_count = 2'000;

  int log_under_alarms(const std::filesystem::path& fifo) {
    config made = settings(GetParam());
    made.sinks["app"].path = fifo;
    start(made);
    const alarms running;
    for (int i = 0; i < count; ++i) PENSTOCK_INFO("{} {:>100}", i, "");
    if (!flush(60s)) return 1;
    if (!stop(60s)) return 2;
    // This thread writes itself from now on, and its signals are not masked.
    for (int i = 0; i < late_count; ++i) PENSTOCK_INFO("{} {:>100}", count + i, "");
    if (signal_count == 0) return 3;
    return front().dropped_total() == 0 ? 0 : 4;
  }

  // What comes out in small pieces until the writer has ended, with its status.
  static std::string read_slowly(int fd, pid_t writer, int& status) {
    std::string text;
    char piece[4096];
    for (bool ended = false;;) {
      const ssize_t bytes = ::read(fd, piece, sizeof piece);
      if (bytes > 0) text.append(piece, static_cast<std::size_t>(bytes));
      if (bytes <= 0 && ended) return text;
      ended = ended || ::waitpid(writer, &status, WNOHANG) == writer;
      std::this_thread::sleep_for(100us);  // The reader is to be the slower one.
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Under, Interrupted, ::testing::Values("write", "console"),
                         [](const auto& chosen) { return std::string(chosen.param); });

TEST_P(Interrupted, WritesIntoASlowFifoLoseNothing) {
  const std::filesystem::path fifo = folder / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reading = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const pid_t writer = ::fork();
  if (writer == 0) {
    count_anew();
    ::_exit(log_under_alarms(fifo));
  }
  int status = -1;
  const std::string text = read_slowly(reading, writer, status);
  ::close(reading);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const std::vector<std::string> lines = testing::lines_of(text);
  ASSERT_EQ(lines.size(), std::size_t{count + late_count});
  for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], std::to_string(i) + std::string(101, ' '));
}

}  // namespace
}  // namespace penstock
