// SPDX-License-Identifier: MIT
#include "bench/cli/ring_command.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "lib/os/file.hpp"
#include "tests/sinks/backend_double.hpp"
#include "tests/sinks/ring_support.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::testing {
namespace {

using cli::ring_call;
using cli::run_ring_command;
using sinks::make_mmap_ring_sink;
using ::testing::HasSubstr;

/// A ring with its writer, and a file that takes what the command gives.
class RingCommand : public ::testing::Test {
 protected:
  RingCommand() : ring_(make_mmap_ring_sink(small_ring(path()))) {}

  std::filesystem::path path() const { return folder_ / "ring"; }
  void write(std::string_view line) { ASSERT_TRUE(backend_double(*ring_).line_now(line).ok()); }
  void restart() {
    ring_.reset();
    ring_ = make_mmap_ring_sink(small_ring(path()));
  }
  int run(ring_call::action what, std::filesystem::path file) {
    return run_ring_command({.what = what, .file = std::move(file)}, out_.get());
  }
  std::string output() const { return text_of(folder_ / "out"); }

  temp_folder folder_{};
  std::unique_ptr<sink> ring_;
  os::descriptor out_{::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600)};
};

TEST_F(RingCommand, CatGivesTheLinesByteForByte) {
  std::string written;
  for (int n = 0; n < 100; ++n) {
    const std::string line = std::to_string(n) + std::string("\0\xFF\t", 3) + "\n";
    write(line);
    written += line;
  }
  EXPECT_EQ(run(ring_call::action::cat, path()), 0);
  EXPECT_EQ(output(), written);
}

TEST_F(RingCommand, CatOfAnEmptyRingGivesNothing) {
  EXPECT_EQ(run(ring_call::action::cat, path()), 0);
  EXPECT_EQ(output(), "");
}

TEST_F(RingCommand, InfoTellsTheRingAndItsWriter) {
  write("one\n");
  write("two\n");
  EXPECT_EQ(run(ring_call::action::info, path()), 0);
  EXPECT_THAT(output(), HasSubstr("size     65536 bytes, 61440 for lines\n"));
  EXPECT_THAT(output(), HasSubstr("sequence 1 to 2\n"));
  EXPECT_THAT(output(), HasSubstr("writer   process " + std::to_string(::getpid()) + ", alive\n"));
  EXPECT_THAT(output(), HasSubstr("used     96 bytes (0.2 %) in 2 batches\n"));
  ring_.reset();
  EXPECT_EQ(run(ring_call::action::info, path()), 0);
  EXPECT_THAT(output(), HasSubstr("writer   none; the last one ended in order\n"));
}

TEST_F(RingCommand, FailsForWhatIsNoRing) {
  EXPECT_EQ(run(ring_call::action::cat, folder_ / "missing"), 1);
  EXPECT_EQ(run(ring_call::action::info, folder_ / "out"), 1);
  EXPECT_EQ(run(ring_call::action::follow, folder_ / "missing"), 1);
  EXPECT_EQ(output(), "");
}

TEST_F(RingCommand, FailsWhenTheLinesCannotBeWritten) {
  write("line\n");
  const os::descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(run_ring_command({.what = ring_call::action::cat, .file = path()}, full.get()), 1);
}

TEST_F(RingCommand, FollowShowsTheLastLinesOnly) {
  for (int n = 0; n < 30; ++n) write("line " + std::to_string(n) + "\n");
  const std::atomic<bool> stop = true;
  EXPECT_EQ(run_ring_command({.what = ring_call::action::follow, .file = path(), .lines = 2}, out_.get(), &stop), 0);
  EXPECT_EQ(output(), "line 28\nline 29\n");
  EXPECT_EQ(run_ring_command({.what = ring_call::action::follow, .file = path(), .lines = 0}, out_.get(), &stop), 0);
  EXPECT_EQ(output(), "line 28\nline 29\n");
}

/// Runs follow on a thread of its own; waits for lines by looking at what came.
class RingCommandConcurrently : public RingCommand {
 protected:
  void start() {
    follower_ = std::thread([this] {
      status_ = run_ring_command({.what = ring_call::action::follow, .file = path(), .lines = std::nullopt}, out_.get(), &stop_);
    });
  }
  void wait_for(const std::string& end) const {
    while (!output().ends_with(end)) std::this_thread::yield();
  }
  void TearDown() override {
    stop_ = true;
    follower_.join();
    EXPECT_EQ(status_, 0);
  }

  std::thread follower_{};
  std::atomic<bool> stop_{false};
  int status_ = -1;
};

TEST_F(RingCommandConcurrently, FollowGoesOnOverARestartAndOverANewFile) {
  write("one\n");
  start();
  wait_for("one\n");
  write("two\n");
  wait_for("two\n");
  restart();
  write("three\n");
  wait_for("three\n");
  std::filesystem::remove(path());
  write("four\n");
  ASSERT_TRUE(ring_->maintain().ok());
  write("five\n");
  wait_for("five\n");
  EXPECT_EQ(output(), "one\ntwo\nthree\nfour\nfive\n");
}

TEST_F(RingCommandConcurrently, FollowGoesOnAfterTruncation) {
  write("one\n");
  start();
  wait_for("one\n");
  std::filesystem::resize_file(path(), 0);
  static_cast<void>(ring_->maintain());
  write("two\n");
  wait_for("two\n");
  EXPECT_THAT(output(), HasSubstr("a new one begins here\ntwo\n"));
}

int status_of_call(std::vector<std::string> words) {
  int status = 0;
  CLI::App app;
  cli::add_ring_command(app, status);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::ParseError&) {
    return 2;
  }
  return status;
}

TEST(RingCommandLine, RefusesWrongCalls) {
  EXPECT_EQ(status_of_call({"ring"}), 2);
  EXPECT_EQ(status_of_call({"ring", "cat"}), 2);
  EXPECT_EQ(status_of_call({"ring", "dance", "file"}), 2);
  EXPECT_EQ(status_of_call({"ring", "follow", "--lines", "-1", "file"}), 2);
  EXPECT_EQ(status_of_call({"ring", "follow", "--lines", "many", "file"}), 2);
  EXPECT_EQ(status_of_call({"ring", "cat", "missing"}), 1);
  EXPECT_EQ(status_of_call({"ring", "follow", "--lines", "all", "missing"}), 1);
}

}  // namespace
}  // namespace penstock::testing
