// SPDX-License-Identifier: MIT
// kill -9 at a random moment: what a flush said is with the kernel is in the file, and nothing else than the beginning of the text.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <new>
#include <random>
#include <string>

#include "sinks/factory.hpp"
#include "tests/sinks/io_uring_driver.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::sinks {
namespace {

using penstock::testing::temp_folder;
using penstock::testing::text_of;

std::string line_of(std::uint64_t number) {
  return std::to_string(number) + std::string(static_cast<std::size_t>(number * 37 % 400), '.') + '\n';
}

class FileKill : public ::testing::TestWithParam<const char*> {
 protected:
  [[noreturn]] void write_until_killed(std::atomic<std::uint64_t>& flushed) {
    sink_config settings;
    settings.type = GetParam();
    settings.path = path;
    settings.batch_size = 8192;
    const auto made = make_sink(settings);
    penstock::testing::io_uring_driver backend(*made);
    for (std::uint64_t number = 0;; ++number) {
      if (!backend.text(line_of(number)).ok()) ::_exit(1);
      if (number % 100 != 99) continue;
      if (!backend.flush().ok()) ::_exit(2);
      flushed.store(number + 1, std::memory_order_release);
    }
  }

  temp_folder folder;
  std::filesystem::path path = folder / "log";
};

TEST_P(FileKill, LosesNothingThatWasFlushedAndTearsNoLineButTheLast) {
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto& flushed = *new (page) std::atomic<std::uint64_t>(0);
  std::mt19937 random(std::random_device{}());
  for (int kill_number = 0; kill_number < 30; ++kill_number) {
    std::filesystem::remove(path);
    flushed = 0;
    const std::uint64_t until = 1 + random() % 2'000;
    const pid_t child = ::fork();
    ASSERT_NE(child, -1);
    if (child == 0) write_until_killed(flushed);
    while (flushed.load(std::memory_order_acquire) < until) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "the writer ended by itself: " << status;
    }
    for (auto spin = random() % 20'000; spin != 0; --spin) std::atomic_signal_fence(std::memory_order_seq_cst);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);

    const std::string text = text_of(path);
    std::string expected;
    std::uint64_t number = 0;
    while (number < flushed) expected += line_of(number++);
    ASSERT_TRUE(text.starts_with(expected)) << "something flushed is missing after kill " << kill_number << ", until " << until;
    // Behind the last flush, io_uring promises no order of what is on its way.
    if (std::string_view(GetParam()) == "io_uring") continue;
    while (expected.size() < text.size()) expected += line_of(number++);
    ASSERT_TRUE(expected.starts_with(text)) << "after kill " << kill_number << ", until " << until;
  }
  ::munmap(page, 4096);
}

INSTANTIATE_TEST_SUITE_P(All, FileKill, ::testing::Values("write", "pwrite", "io_uring", "stdio"),
                         [](const ::testing::TestParamInfo<const char*>& chosen) { return std::string(chosen.param); });

}  // namespace
}  // namespace penstock::sinks
