// SPDX-License-Identifier: MIT
#include "lib/os/file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <string>

#include "tests/support/faulty_calls.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::os {
namespace {

using penstock::testing::faulty_calls;
using penstock::testing::temp_folder;
using penstock::testing::text_of;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text.data(), text.size())); }

struct pipe_ends {
  pipe_ends() {
    std::array<int, 2> fds{};
    EXPECT_EQ(::pipe2(fds.data(), O_CLOEXEC | O_NONBLOCK), 0);
    read = descriptor(fds[0]);
    write = descriptor(fds[1]);
  }
  descriptor read;
  descriptor write;
};

class File : public ::testing::Test {
 protected:
  temp_folder folder;
  std::filesystem::path path = folder / "log";
  descriptor file = open_log_file(path, {.flags = O_WRONLY});
};

TEST_F(File, IsWrittenFromTheNextByteAfterEachShortCount) {
  faulty_calls faults;
  faults.every_write.at_most_bytes = 3;
  const write_result result = write_all(file.get(), bytes_of("one two three"));
  EXPECT_EQ(result.done_bytes, 13U);
  EXPECT_TRUE(result.result.ok());
  EXPECT_EQ(faults.write_bytes.size(), 5U);
  EXPECT_EQ(text_of(path), "one two three");
}

TEST_F(File, IsWrittenThroughAStormOfInterruptions) {
  faulty_calls faults;
  for (int i = 0; i < 1000; ++i) {
    faults.writes.push_back({.os_error = EINTR});
    if (i % 100 == 0) faults.writes.push_back({.at_most_bytes = 1});
  }
  EXPECT_TRUE(write_all_at(file.get(), bytes_of("through the storm"), 0).result.ok());
  EXPECT_EQ(text_of(path), "through the storm");
}

TEST_F(File, TellsHowFarItGotBeforeTheDiskWasFull) {
  faulty_calls faults;
  faults.writes = {{.at_most_bytes = 5}, {.os_error = ENOSPC}};
  const write_result result = write_all_at(file.get(), bytes_of("0123456789"), 2);
  EXPECT_EQ(result.done_bytes, 5U);
  EXPECT_EQ(result.result, (outcome{errc::no_space, ENOSPC}));
  EXPECT_EQ(text_of(path), std::string("\0\0"
                                       "01234",
                                       7));
}

TEST_F(File, DoesNotTurnForEverWhenAWriteMakesNoProgress) {
  faulty_calls faults;
  faults.every_write.at_most_bytes = 0;
  EXPECT_EQ(write_all(file.get(), bytes_of("x")).result, (outcome{errc::no_space, ENOSPC}));
}

TEST_F(File, GetsAGenuineShortCountAtTheSizeLimit) {
  write_result result;
  {
    const penstock::testing::file_size_limit limit(7);
    result = write_all(file.get(), bytes_of("0123456789"));
  }
  EXPECT_EQ(result.done_bytes, 7U);
  EXPECT_EQ(result.result, (outcome{errc::no_space, EFBIG}));
  EXPECT_TRUE(write_all(file.get(), bytes_of("789")).result.ok());
  EXPECT_EQ(text_of(path), "0123456789");
}

TEST(Pipe, ThatStaysFullIsGivenBackAsFullAfterOneWait) {
  const pipe_ends ends;
  const auto pipe_bytes = static_cast<std::size_t>(::fcntl(ends.write.get(), F_GETPIPE_SZ));
  const std::string much(pipe_bytes + 100, 'x');
  const auto begin = std::chrono::steady_clock::now();
  const write_result result = write_all(ends.write.get(), bytes_of(much));
  EXPECT_EQ(result.result, (outcome{errc::no_space, EAGAIN}));
  EXPECT_EQ(result.done_bytes, pipe_bytes);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(900));
}

TEST(Pipe, WithoutAReaderIsClosed) {
  pipe_ends ends;
  ends.read.reset();
  const penstock::testing::masked_signals masked;
  EXPECT_EQ(write_all(ends.write.get(), bytes_of("x")).result, (outcome{errc::closed, EPIPE}));
}

TEST(Pipe, HasNoMediumToSync) {
  const pipe_ends ends;
  EXPECT_EQ(sync_data(ends.write.get()).code, errc::unsupported);
}

TEST(DevFull, IsFull) {
  const descriptor full = open_log_file("/dev/full", {});
  EXPECT_EQ(write_all(full.get(), bytes_of("x")), (write_result{0, {errc::no_space, ENOSPC}}));
}

TEST_F(File, TellsAFailureToSyncOnce) {
  faulty_calls faults;
  faults.syncs = {{.os_error = EINTR}, {.os_error = EIO}, {.os_error = ENOSPC}};
  EXPECT_EQ(sync_data(file.get()), (outcome{errc::io, EIO}));
  // Late write-back found no space: nothing is held that could be tried again, so it is not errc::no_space.
  EXPECT_EQ(sync_data(file.get()), (outcome{errc::io, ENOSPC}));
  EXPECT_TRUE(sync_data(file.get()).ok());
}

TEST(OutcomeOf, SaysWhatTheBackendIsToDoAboutAnErrno) {
  EXPECT_TRUE(outcome_of(0).ok());
  for (const int full : {ENOSPC, EDQUOT, EFBIG, EAGAIN, ENOMEM}) EXPECT_EQ(outcome_of(full), (outcome{errc::no_space, full}));
  for (const int broken : {EIO, ENXIO, ENODEV, EROFS, EBADF}) EXPECT_EQ(outcome_of(broken), (outcome{errc::io, broken}));
  EXPECT_EQ(outcome_of(EPIPE), (outcome{errc::closed, EPIPE}));
}

TEST(Descriptor, IsClosedOnceAndByItsOwnerOnly) {
  const pipe_ends ends;
  descriptor first(::fcntl(ends.write.get(), F_DUPFD_CLOEXEC, 3));
  const int number = first.get();
  descriptor second = std::move(first);
  EXPECT_FALSE(first.valid());  // NOLINT(bugprone-use-after-move): that it is empty is the point
  EXPECT_GE(::fcntl(number, F_GETFD), 0);
  second.reset();
  EXPECT_LT(::fcntl(number, F_GETFD), 0);
}

}  // namespace
}  // namespace penstock::os
