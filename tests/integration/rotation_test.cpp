// SPDX-License-Identifier: MIT
// The whole library with sinks that rotate as fast as they can: every record is found exactly once, whole, over all files and restarts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <penstock/penstock.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/support/patience.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using penstock::testing::temp_folder;
using penstock::testing::text_of;

constexpr std::size_t producer_count = 4;

/// All files of the log: the names of closed ones sort in the order of time, and the live one comes last.
std::vector<fs::path> files_of(const fs::path& path) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path.parent_path()))
    if (entry.path().filename().string().starts_with(path.filename().string() + '.')) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  files.push_back(path);
  return files;
}

struct check {
  std::uint64_t lines = 0;
  std::uint64_t strange = 0;       ///< neither a record nor a line of the library's own
  std::uint64_t out_of_order = 0;  ///< within one producer: lost, doubled or swapped
  std::uint64_t too_large = 0;
  std::uint64_t empty = 0;
};

/// Producers count from 0 on over all runs.
check read_back(const std::vector<fs::path>& files, std::size_t limit_bytes) {
  check found;
  std::vector<std::uint64_t> next(producer_count, 0);
  for (const fs::path& file : files) {
    const std::string text = text_of(file);
    found.empty += text.empty() ? 1U : 0U;
    found.too_large += text.size() > limit_bytes ? 1U : 0U;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      begin = end + 1;
      unsigned producer = 0;
      std::uint64_t number = 0;
      int used = 0;
      ++found.lines;
      if (std::sscanf(line.c_str(), "p%u n%lu end%n", &producer, &number, &used) != 2 || used != static_cast<int>(line.size()) ||
          producer >= producer_count || end == text.size()) {
        ++found.strange;
        continue;
      }
      if (number != next[producer]++) ++found.out_of_order;
    }
  }
  return found;
}

void produce(std::uint64_t first, std::uint64_t count) {
  std::vector<std::thread> producers;
  for (std::size_t producer = 0; producer < producer_count; ++producer)
    producers.emplace_back([=] {
      for (std::uint64_t n = first; n < first + count; ++n) info("p{} n{} end", producer, n);
    });
  for (std::thread& each : producers) each.join();
}

class RotationOfTheWhole : public ::testing::TestWithParam<const char*> {
 protected:
  config settings(std::string_view rotate) {
    std::string toml = "[sinks.app]\ntype = \"" + std::string(GetParam()) + "\"\npath = \"" + path.string() +
                       "\"\npattern = \"{message}\"\nbatch_size = \"16 KiB\"\nrotate = " + std::string(rotate) + "\n";
    return parse_config(toml, "test.toml");
  }
  temp_folder folder;
  fs::path path = folder / "app.log";
};

TEST_P(RotationOfTheWhole, FindsEveryRecordOnceOverFilesAndRestartsConcurrently) {
  constexpr std::uint64_t per_run = 10'000;
  constexpr std::uint64_t run_count = 3;
  for (std::uint64_t run = 0; run < run_count; ++run) {
    start(settings("{ size = \"8 KiB\" }"));
    produce(run * per_run, per_run);
    ASSERT_TRUE(flush());
    ASSERT_TRUE(stop());
  }
  const std::vector<fs::path> files = files_of(path);
  const check found = read_back(files, 8192);
  EXPECT_EQ(found.lines, producer_count * per_run * run_count);
  EXPECT_EQ(found.strange, 0U);
  EXPECT_EQ(found.out_of_order, 0U);
  EXPECT_EQ(found.too_large, 0U);
  EXPECT_EQ(found.empty, 0U);
  EXPECT_GT(files.size(), 100U);
}

TEST_P(RotationOfTheWhole, KeepsWhatItIsToldToKeepWhileOthersLookConcurrently) {
  std::atomic<bool> done = false;
  start(settings("{ size = \"4 KiB\", keep = 2 }"));
  // Statistics, flushes and requests to open anew may overlap with rotation and retention in any way.
  std::thread observer([&] {
    while (!done) {
      static_cast<void>(stats());
      static_cast<void>(flush());
      static_cast<void>(reopen());
    }
  });
  produce(0, 10'000);
  done = true;
  observer.join();
  ASSERT_TRUE(stop());
  const std::vector<fs::path> files = files_of(path);
  EXPECT_EQ(files.size(), 3U);
  const check found = read_back(files, 4096);
  EXPECT_EQ(found.strange, 0U);
  EXPECT_EQ(found.too_large, 0U);
}

TEST_P(RotationOfTheWhole, GoesOnInTheOldFileWhileNoNameCanBeHadConcurrently) {
  // Folders in the place of every name that could be next: no more than 1000 are tried at a time.
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  char stamp[32];
  const std::time_t second = std::chrono::system_clock::to_time_t(now + 24h);
  std::tm civil{};
  ::gmtime_r(&second, &civil);
  std::strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &civil);
  std::vector<fs::path> taken;
  // The newest name of an earlier run is ahead of the clock, as after the clock was set back.
  penstock::testing::write_text(path.string() + '.' + stamp + "-0000", "p0 n0 end\n");
  for (int index = 1; index <= 1000; ++index) {
    char name[16];
    std::snprintf(name, sizeof name, "-%04d", index);
    taken.push_back(path.string() + '.' + stamp + name);
    fs::create_directory(taken.back());
  }
  static std::atomic<int> told = 0;
  told = 0;
  on_error([](const error_report& what) noexcept { told += what.os_error == EEXIST ? 1 : 0; });
  start(settings("{ size = \"4 KiB\" }"));
  std::uint64_t count = 1;
  const auto go_on_until = [&](auto holds) {
    return penstock::testing::eventually(
        [&] {
          for (int i = 0; i < 100; ++i) info("p0 n{} end", count++);
          static_cast<void>(flush());
          return holds();
        },
        10ms);
  };
  EXPECT_TRUE(go_on_until([] { return told > 0; }));
  EXPECT_GT(fs::file_size(path), 4096U);
  for (const fs::path& each : taken) fs::remove(each);
  EXPECT_TRUE(go_on_until([&] { return fs::exists(taken.front()); }));
  ASSERT_TRUE(stop());
  on_error(nullptr);
  const check found = read_back(files_of(path), static_cast<std::size_t>(-1));
  EXPECT_EQ(found.lines, count);
  EXPECT_EQ(found.strange, 0U);
  EXPECT_EQ(found.out_of_order, 0U);
}

INSTANTIATE_TEST_SUITE_P(, RotationOfTheWhole, ::testing::Values("write", "pwrite", "stdio", "io_uring"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace penstock
