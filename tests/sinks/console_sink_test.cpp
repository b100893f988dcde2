// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "lib/os/file.hpp"
#include "sinks/factory.hpp"
#include "tests/sinks/backend_double.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::sinks {
namespace {

using penstock::testing::backend_double;
using penstock::testing::status_of_child;
using penstock::testing::temp_folder;
using penstock::testing::text_of;

sink_config console(const std::filesystem::path& path = {}) {
  sink_config settings;
  settings.type = "console";
  settings.path = path;
  settings.batch_size = 4096;
  return settings;
}

TEST(ConsoleSink, WritesWholeLinesToStandardErrorWhereverThatLeads) {
  const auto made = make_console_sink(console());
  EXPECT_EQ(made->lend({}).end, cut::lines);
  // Sent elsewhere after the sink was made, as a daemon does.
  ::testing::internal::CaptureStderr();
  const outcome result = backend_double(*made).line_now("to the console\n");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "to the console\n");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(made->describe().kind, "console");
}

TEST(ConsoleSink, GoesOnAfterItsEnd) {
  const auto retired = make_console_sink(console())->retire();
  ASSERT_NE(retired, nullptr);
  ::testing::internal::CaptureStderr();
  static_cast<void>(backend_double(*retired).line_now("late\n"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "late\n");
}

TEST(ConsoleSink, WritesToNobodyElsesFileWhenStandardErrorWasClosed) {
  const temp_folder folder;
  EXPECT_EQ(status_of_child([&] {
              ::close(STDERR_FILENO);
              const auto made = make_console_sink(console());
              if (::open((folder / "data").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600) != STDERR_FILENO) return 2;
              const bool refused = backend_double(*made).line_now("line\n") == outcome{errc::closed, EBADF} && made->abandon() == 5;
              return refused && made->retire() == nullptr ? 0 : 1;
            }),
            0);
  EXPECT_EQ(text_of(folder / "data"), "");
}

TEST(ConsoleSink, IsClosedWhenNobodyReadsStandardErrorAnyMore) {
  EXPECT_EQ(status_of_child([] {
              int fds[2];
              if (::pipe(fds) != 0) return 2;
              ::dup2(fds[1], STDERR_FILENO);
              ::close(fds[0]);
              ::close(fds[1]);
              const penstock::testing::masked_signals masked;
              const auto made = make_console_sink(console());
              return backend_double(*made).line_now("line\n") == outcome{errc::closed, EPIPE} ? 0 : 1;
            }),
            0);
}

TEST(ConsoleSink, AppendsToAPathIfItHasOne) {
  const temp_folder folder;
  penstock::testing::write_text(folder / "console", "before\n");
  const auto made = make_console_sink(console(folder / "console"));
  ASSERT_TRUE(backend_double(*made).line_now("line\n").ok());
  ASSERT_TRUE(backend_double(*made->retire()).line_now("late\n").ok());
  EXPECT_EQ(text_of(folder / "console"), "before\nline\nlate\n");
}

class Colour : public ::testing::Test {
 protected:
  void SetUp() override {
    int controller = -1;
    int terminal = -1;
    if (::openpty(&controller, &terminal, nullptr, nullptr, nullptr) != 0) GTEST_SKIP() << "SKIPPED: no pseudo-terminal can be had here";
    controller_ = os::descriptor(controller);
    terminal_ = os::descriptor(terminal);
  }
  /// Asked in a child, whose environment is its own.
  static bool wanted(int fd, const char* term, const char* no_colour) {
    return status_of_child([&] {
             term == nullptr ? ::unsetenv("TERM") : ::setenv("TERM", term, 1);
             no_colour == nullptr ? ::unsetenv("NO_COLOR") : ::setenv("NO_COLOR", no_colour, 1);
             return console_wants_colour(fd) ? 1 : 0;
           }) == 1;
  }
  os::descriptor controller_;
  os::descriptor terminal_;
};

TEST_F(Colour, IsForTerminalsThatKnowItUnlessNobodyWantsIt) {
  EXPECT_TRUE(wanted(terminal_.get(), "xterm", nullptr));
  EXPECT_TRUE(wanted(terminal_.get(), "xterm", ""));
  EXPECT_FALSE(wanted(terminal_.get(), "xterm", "1"));
  EXPECT_FALSE(wanted(terminal_.get(), "dumb", nullptr));
  EXPECT_FALSE(wanted(terminal_.get(), nullptr, nullptr));
}

TEST_F(Colour, IsNotForFiles) {
  const temp_folder folder;
  const os::descriptor file = os::open_log_file(folder / "log", {});
  EXPECT_FALSE(wanted(file.get(), "xterm", nullptr));
}

}  // namespace
}  // namespace penstock::sinks
