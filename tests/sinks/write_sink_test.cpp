// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "lib/os/file.hpp"
#include "sinks/factory.hpp"
#include "tests/sinks/backend_double.hpp"
#include "tests/support/faulty_calls.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using penstock::testing::backend_double;
using penstock::testing::faulty_calls;
using penstock::testing::masked_signals;
using penstock::testing::random_lines;
using penstock::testing::temp_folder;
using penstock::testing::text_of;

class WriteSink : public ::testing::Test {
 protected:
  std::unique_ptr<sink> make(const fs::path& where, page_cache_policy page_cache = page_cache_policy::keep) {
    sink_config settings;
    settings.path = where;
    settings.page_cache = page_cache;
    settings.batch_size = 4096;
    return make_write_sink(settings);
  }
  temp_folder folder;
  fs::path path = folder / "log";
};

TEST_F(WriteSink, LendsABatchOfWholeLinesThatIsNeverSmallerThanAskedFor) {
  const auto made = make(path);
  for (int i = 0; i < 50; ++i) {
    const batch lent = made->lend({});
    EXPECT_EQ(lent.end, cut::lines);
    EXPECT_GE(lent.room.size(), 4096U);
    if (i == 0) {
      EXPECT_EQ(lent.room.size(), 4096U) << "a page more than was asked for makes writes slow";
    }
    // In memory as in the file: their places in a page are the same.
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lent.room.data()) % 4096, fs::file_size(path) % 4096);
    std::fill_n(lent.room.begin(), 700, std::byte{'\n'});
    ASSERT_TRUE(made->submit(700).ok());
  }
}

TEST_F(WriteSink, HandsEachBatchOverByOneWrite) {
  faulty_calls faults;
  const auto made = make(path);
  backend_double backend(*made);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(backend.line(std::string(99, 'x') + '\n').ok());
  ASSERT_TRUE(backend.submit().ok());
  EXPECT_LE(faults.write_bytes.size(), 3U);
  EXPECT_TRUE(std::all_of(faults.write_bytes.begin(), faults.write_bytes.end(), [](std::size_t n) { return n % 100 == 0; }));
}

TEST_F(WriteSink, NeitherPreallocatesNorTruncatesSinceOthersMayAppend) {
  faulty_calls faults;
  {
    const auto made = make(path);
    const auto other = make(path);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(backend_double(*made).line_now(std::string(999, 'a') + '\n').ok());
      ASSERT_TRUE(backend_double(*other).line_now("other\n").ok());
    }
  }
  EXPECT_EQ(faults.allocate_count + faults.truncate_count, 0U);
  EXPECT_EQ(fs::file_size(path), 2000U * 1006);
}

TEST_F(WriteSink, KeepsLinesWholeWhenSeveralWriteConcurrently) {
  constexpr int writers = 4;
  constexpr int lines_each = 2000;
  std::vector<std::thread> threads;
  for (int w = 0; w < writers; ++w)
    threads.emplace_back([&, w] {
      const auto made = make(path);
      backend_double backend(*made);
      for (int i = 0; i < lines_each; ++i)
        EXPECT_TRUE(backend.line(std::string(static_cast<std::size_t>(20 + i % 60), static_cast<char>('a' + w)) + '\n').ok());
      EXPECT_TRUE(backend.submit().ok());
    });
  for (std::thread& thread : threads) thread.join();
  const std::string written = text_of(path);
  EXPECT_EQ(std::count(written.begin(), written.end(), '\n'), writers * lines_each);
  for (std::size_t begin = 0; begin < written.size();) {
    const std::size_t end = written.find('\n', begin);
    ASSERT_NE(end, std::string::npos);
    ASSERT_TRUE(std::all_of(&written[begin], &written[end], [&](char c) { return c == written[begin]; })) << "at byte " << begin;
    begin = end + 1;
  }
}

TEST_F(WriteSink, HoldsItsBatchWhileTheDeviceIsFull) {
  const auto made = make("/dev/full");
  EXPECT_EQ(backend_double(*made).line_now("line\n"), (outcome{errc::no_space, ENOSPC}));
  EXPECT_TRUE(made->lend({}).room.empty());
  EXPECT_EQ(made->resume(), (outcome{errc::no_space, ENOSPC}));
  EXPECT_EQ(made->abandon(), 5U);
  EXPECT_FALSE(made->lend({}).room.empty());
}

TEST_F(WriteSink, WritesThroughAFifoWhoseReaderIsSlow) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const os::descriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto made = make(path, page_cache_policy::drop);
  backend_double backend(*made);
  random_lines lines(3);
  std::string expected;
  std::string seen;
  char buffer[5000];
  for (int i = 0; i < 3000; ++i) {
    const std::string line = lines.next(200);
    expected += line;
    ASSERT_TRUE(backend.line(line).ok());
    // The pipe holds 64 KiB; this takes out less at a time than is put in, and more often.
    while (static_cast<long>(expected.size() - seen.size()) > 20'000) {
      const ssize_t count = ::read(reader.get(), buffer, sizeof buffer);
      ASSERT_GT(count, 0);
      seen.append(buffer, static_cast<std::size_t>(count));
    }
  }
  ASSERT_TRUE(backend.submit().ok());
  for (ssize_t count = 0; (count = ::read(reader.get(), buffer, sizeof buffer)) > 0;) seen.append(buffer, static_cast<std::size_t>(count));
  EXPECT_EQ(seen, expected);
  EXPECT_EQ(made->sync().code, errc::unsupported);
}

TEST_F(WriteSink, HoldsWhatAFifoThatNobodyEmptiesDoesNotTake) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const os::descriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto made = make(path);
  backend_double backend(*made);
  const std::string line(1023, 'x');
  outcome result;
  for (int i = 0; i < 100 && result.ok(); ++i) result = backend.line(line + '\n');
  EXPECT_EQ(result, (outcome{errc::no_space, EAGAIN}));
  std::string all(70'000, '\0');
  EXPECT_EQ(::read(reader.get(), all.data(), all.size()), 65'536);
  EXPECT_TRUE(made->resume().ok());
}

TEST_F(WriteSink, IsClosedWhenTheReaderOfItsFifoHasGone) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  os::descriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto made = make(path);
  reader.reset();
  const masked_signals masked;
  EXPECT_EQ(backend_double(*made).line_now("line\n"), (outcome{errc::closed, EPIPE}));
  EXPECT_EQ(made->abandon(), 5U);
}

TEST_F(WriteSink, KillsNobodyWhoLogsToAClosedFifoAfterStop) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(penstock::testing::status_of_child([&] {
              std::signal(SIGPIPE, SIG_DFL);
              os::descriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
              const auto retired = make(path)->retire();
              reader.reset();
              return backend_double(*retired).line_now("late\n") == outcome{errc::closed, EPIPE} ? 0 : 1;
            }),
            0);
}

TEST_F(WriteSink, AsksForTheDroppedPageCacheAndStopsAskingWhenThatIsRefused) {
  faulty_calls faults;
  faults.writes = {{}, {.at_most_bytes = 3}, {.os_error = EOPNOTSUPP}};
  const auto made = make(path, page_cache_policy::drop);
  backend_double backend(*made);
  for (const char* line : {"first\n", "second\n", "third\n"}) ASSERT_TRUE(backend.line_now(line).ok());
  EXPECT_EQ(text_of(path), "first\nsecond\nthird\n");
  EXPECT_EQ(faults.write_flags, (std::vector<int>{os::write_dont_cache, os::write_dont_cache, os::write_dont_cache, 0, 0}));
  EXPECT_EQ(made->describe().kind, "write");
}

TEST_F(WriteSink, RefusesToBypassThePageCacheAndNamesTheTypeThatCan) {
  try {
    make(path, page_cache_policy::direct);
    FAIL() << "it was made";
  } catch (const config_error& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("pwrite"));
  }
}

}  // namespace
}  // namespace penstock::sinks
