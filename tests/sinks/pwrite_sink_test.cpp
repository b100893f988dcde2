// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <string>

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
using penstock::testing::fault;
using penstock::testing::faulty_calls;
using penstock::testing::temp_folder;
using penstock::testing::text_of;
using ::testing::HasSubstr;

class PwriteSink : public ::testing::Test {
 protected:
  std::unique_ptr<sink> make(page_cache_policy page_cache = page_cache_policy::keep, std::size_t batch_bytes = 65536) {
    sink_config settings;
    settings.type = "pwrite";
    settings.path = path;
    settings.page_cache = page_cache;
    settings.batch_size = batch_bytes;
    return make_pwrite_sink(settings);
  }
  void write_mebibytes(sink& made, int count) {
    backend_double backend(made);
    const std::string line = std::string(1023, 'x') + '\n';
    for (int i = 0; i < count * 1024; ++i) ASSERT_TRUE(backend.line(line).ok());
    ASSERT_TRUE(backend.submit().ok());
  }
  std::uint64_t allocated_bytes() const {
    struct stat facts {};
    EXPECT_EQ(::stat(path.c_str(), &facts), 0);
    return static_cast<std::uint64_t>(facts.st_blocks) * 512;
  }
  temp_folder folder;
  fs::path path = folder / "log";
};

constexpr std::uint64_t mebibyte = 1 << 20;

TEST_F(PwriteSink, WritesWholePagesAgainAfterABatchThatWasDueInTheMiddleOfOne) {
  faulty_calls faults;
  const auto made = make();
  backend_double backend(*made);
  ASSERT_TRUE(backend.line_now(std::string(999, 'x') + '\n').ok());
  const batch lent = made->lend({});
  EXPECT_EQ(lent.end, cut::pages);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(lent.room.data()) % 4096, 1000U);
  EXPECT_EQ((reinterpret_cast<std::uintptr_t>(lent.room.data()) + lent.room.size()) % 4096, 0U);
  write_mebibytes(*made, 1);
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < faults.write_bytes.size(); ++i) {
    end += faults.write_bytes[i];
    if (i > 0 && i + 1 < faults.write_bytes.size()) {
      EXPECT_EQ(end % 4096, 0U) << "write " << i;
    }
  }
}

TEST_F(PwriteSink, AsksForBlocksAheadThatNobodySeesAndGivesThemBackAtTheEnd) {
  {
    const auto made = make();
    write_mebibytes(*made, 4);
    EXPECT_EQ(fs::file_size(path), 4 * mebibyte);
    if (allocated_bytes() <= 4 * mebibyte + 65536) GTEST_SKIP() << "SKIPPED: this file system does not preallocate";
    EXPECT_GE(allocated_bytes(), 64 * mebibyte);
  }
  EXPECT_EQ(fs::file_size(path), 4 * mebibyte);
  EXPECT_LE(allocated_bytes(), 4 * mebibyte + 65536);
}

TEST_F(PwriteSink, TakesNoBlocksAheadForAQuietLog) {
  faulty_calls faults;
  const auto made = make();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(backend_double(*made).line_now("quiet\n").ok());
  EXPECT_EQ(faults.allocate_count, 0U);
}

TEST_F(PwriteSink, GivesBackWhatAFailedRequestForBlocksKept) {
  faulty_calls faults;
  faults.allocate_error = ENOSPC;
  const auto made = make();
  write_mebibytes(*made, 4);
  EXPECT_EQ(faults.allocate_count, 1U) << "asked again only much later";
  EXPECT_EQ(faults.truncate_count, 1U);
  EXPECT_LE(allocated_bytes(), 4 * mebibyte + 65536);
  EXPECT_EQ(fs::file_size(path), 4 * mebibyte);
}

TEST_F(PwriteSink, AsksOnlyOnceWhereNobodyPreallocates) {
  for (const int refusal : {EOPNOTSUPP, ENOSYS, EPERM}) {
    faulty_calls faults;
    faults.allocate_error = refusal;
    const auto made = make();
    write_mebibytes(*made, 3);
    EXPECT_EQ(faults.allocate_count, 1U);
    EXPECT_EQ(faults.truncate_count, 0U);
  }
}

TEST_F(PwriteSink, GivesBackBlocksThatAKilledProcessLeftBeyondTheEnd) {
  EXPECT_EQ(penstock::testing::status_of_child([&] {
              const auto made = make();
              write_mebibytes(*made, 2);
              ::kill(::getpid(), SIGKILL);
              return 1;
            }),
            -SIGKILL);
  EXPECT_EQ(fs::file_size(path), 2 * mebibyte);
  if (allocated_bytes() <= 2 * mebibyte + 65536) GTEST_SKIP() << "SKIPPED: this file system does not preallocate";
  make();
  EXPECT_LE(allocated_bytes(), 2 * mebibyte + 65536);
  EXPECT_EQ(text_of(path).find('\0'), std::string::npos);
}

TEST_F(PwriteSink, DoesNotFillATruncatedFileUpWithNulsWhenItGivesBlocksBack) {
  {
    const auto made = make();
    write_mebibytes(*made, 2);
    ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  }
  EXPECT_EQ(fs::file_size(path), 0U);
}

TEST_F(PwriteSink, RefusesASecondOwner) {
  const auto made = make();
  try {
    make();
    FAIL() << "two owners";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("this process (" + std::to_string(::getpid()) + ") has it open for itself"));
  }
}

TEST_F(PwriteSink, RefusesAFifo) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  try {
    make();
    FAIL() << "it was made";
  } catch (const std::system_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("use type = \"write\""));
  }
}

TEST_F(PwriteSink, RefusesAFileThatIsOpenForAppending) {
  os::system_calls appending = os::calls();
  appending.open = [](const char* name, int flags, mode_t mode) noexcept { return ::open(name, flags | O_APPEND, mode); };
  const os::scoped_system_calls scope(appending);
  EXPECT_THROW(make(), std::system_error);
}

TEST_F(PwriteSink, AsksForTheDroppedPageCacheAndStopsAskingWhenThatIsRefused) {
  for (const int refusal : {EOPNOTSUPP, EINVAL, ENOSYS}) {
    fs::remove(path);
    faulty_calls faults;
    faults.writes = {{}, {.at_most_bytes = 3}, {.os_error = refusal}};
    const auto made = make(page_cache_policy::drop);
    for (const char* line : {"first\n", "second\n", "third\n"}) ASSERT_TRUE(backend_double(*made).line_now(line).ok());
    EXPECT_EQ(text_of(path), "first\nsecond\nthird\n");
    EXPECT_EQ(faults.write_flags, (std::vector<int>{os::write_dont_cache, os::write_dont_cache, os::write_dont_cache, 0, 0}));
  }
}

TEST_F(PwriteSink, DropsTheWindowBehindItWhereTheFlagIsRefused) {
  faulty_calls faults;
  faults.writes = {{.os_error = EOPNOTSUPP}};
  const auto made = make(page_cache_policy::drop, 262144);
  write_mebibytes(*made, 40);
  EXPECT_EQ(fs::file_size(path), 40 * mebibyte);
  const os::descriptor reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // RWF_NOWAIT reads what is in the page cache and fails for what is not.
  char byte = 0;
  iovec piece{&byte, 1};
  const ssize_t first = ::preadv2(reader.get(), &piece, 1, mebibyte, RWF_NOWAIT);
  if (first < 0 && errno == EOPNOTSUPP) GTEST_SKIP() << "SKIPPED: this file system cannot tell what is cached";
  EXPECT_LT(first, 0) << "the first window is still cached";
  EXPECT_EQ(::preadv2(reader.get(), &piece, 1, 40 * mebibyte - 1, RWF_NOWAIT), 1);
}

TEST_F(PwriteSink, WaitsForADiskThatDoesNotKeepUpWithADroppingLog) {
  faulty_calls faults;
  const auto made = make(page_cache_policy::drop, 1 << 20);
  write_mebibytes(*made, 31);
  EXPECT_LE(faults.range_wait_count, 2U);  // the windows are smaller where the flag is refused
  write_mebibytes(*made, 33);
  EXPECT_GE(faults.range_wait_count, 3U);
}

TEST_F(PwriteSink, TellsAtTheNextSyncWhatAWaitHeardOfFailedWriteBack) {
  faulty_calls faults;
  faults.range_waits = {{.os_error = EIO}};
  const auto made = make(page_cache_policy::drop, 1 << 20);
  write_mebibytes(*made, 48);
  EXPECT_EQ(made->sync(), (outcome{errc::io, EIO}));
  EXPECT_TRUE(made->sync().ok()) << "it is told once";
}

TEST_F(PwriteSink, NoticesThatItsFileIsCutOffWithoutAskingForItsTimes) {
  static int looks = 0;
  const auto made = make();
  os::system_calls table = os::calls();
  table.fstat = [](int fd, struct stat* out) noexcept {
    ++looks;
    return ::fstat(fd, out);
  };
  const os::scoped_system_calls scope(table);
  write_mebibytes(*made, 1);
  EXPECT_EQ(looks, 0);
  ASSERT_EQ(::truncate(path.c_str(), 1024), 0);
  ASSERT_TRUE(backend_double(*made).line_now("behind\n").ok());
  EXPECT_EQ(fs::file_size(path), 1031U);
}

TEST_F(PwriteSink, WritesWholePagesDirectlyAndTheRestByteForByte) {
  faulty_calls faults;
  const auto made = make(page_cache_policy::direct);
  if (!made->describe().fallback.empty()) GTEST_SKIP() << "SKIPPED: " << made->describe().fallback;
  std::string expected = std::string(10'000, 'a') + '\n';
  ASSERT_TRUE(backend_double(*made).line_now(expected).ok());
  EXPECT_EQ(faults.write_bytes, (std::vector<std::size_t>{8192, 1809}));
  EXPECT_EQ(text_of(path), expected);
  const std::string more = std::string(8'000, 'b') + '\n';
  ASSERT_TRUE(backend_double(*made).line_now(more).ok());
  EXPECT_EQ(faults.write_bytes, (std::vector<std::size_t>{8192, 1809, 2287, 4096, 1618}));
  EXPECT_EQ(text_of(path), expected + more);
  EXPECT_EQ(made->describe().fallback, "");
}

TEST_F(PwriteSink, GoesOnThroughThePageCacheWhereDirectWritesAreRefusedAndSaysSo) {
  faulty_calls faults;
  faults.writes = {{.os_error = EINVAL}};
  const auto made = make(page_cache_policy::direct);
  const std::string line = std::string(10'000, 'a') + '\n';
  ASSERT_TRUE(backend_double(*made).line_now(line).ok());
  ASSERT_TRUE(backend_double(*made).line_now(line).ok());
  EXPECT_EQ(text_of(path), line + line);
  EXPECT_THAT(made->describe().fallback, HasSubstr("O_DIRECT"));
}

TEST_F(PwriteSink, StaysDirectAfterAShortCountAtAnOddByte) {
  faulty_calls faults;
  const auto made = make(page_cache_policy::direct);
  if (!made->describe().fallback.empty()) GTEST_SKIP() << "SKIPPED: " << made->describe().fallback;
  std::string expected;
  for (int i = 0; i < 3; ++i) {
    // A direct write of an odd size is refused by the kernel; the short count is made by a write of whole pages and an errno.
    faults.writes = {{.at_most_bytes = 4096}, {.os_error = ENOSPC}};
    const std::string line = std::string(20'000, static_cast<char>('a' + i)) + '\n';
    expected += line;
    ASSERT_FALSE(backend_double(*made).line_now(line).ok());
    ASSERT_TRUE(made->resume().ok());
    EXPECT_EQ(text_of(path), expected);
  }
  EXPECT_EQ(made->describe().fallback, "");
}

}  // namespace
}  // namespace penstock::sinks
