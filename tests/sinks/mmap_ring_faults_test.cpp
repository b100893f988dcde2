// SPDX-License-Identifier: MIT
// What others do to the file, and what the disk does: truncation, deletion, renaming, failed syncs, power cuts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <string>

#include "sinks/ring_frames.hpp"
#include "tests/sinks/backend_double.hpp"
#include "tests/sinks/ring_support.hpp"
#include "tests/support/faulty_calls.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::testing {
namespace {

using sinks::make_mmap_ring_sink;
using sinks::ring_reader;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A ring in a folder of its own, with a backend that fills it.
struct ring_under_test {
  explicit ring_under_test(sync_policy sync = {}) : settings(small_ring(folder / "ring")) {
    settings.sync = sync;
    restart();
  }
  void restart() { ring = make_mmap_ring_sink(settings); }
  outcome line_now(std::string_view text) { return backend_double(*ring).line_now(text); }
  std::filesystem::path path() const { return folder / "ring"; }

  temp_folder folder{};
  sink_config settings;
  std::unique_ptr<sink> ring{};
};

TEST(MmapRingFaults, SurvivesTruncationAndGoesOnInANewFile) {
  ring_under_test t;
  ASSERT_TRUE(t.line_now("gone\n").ok());
  std::filesystem::resize_file(t.path(), 0);
  const outcome result = t.line_now("kept\n");
  EXPECT_EQ(result.code, errc::io);
  EXPECT_TRUE(t.ring->lend({}).room.empty());
  EXPECT_EQ(t.ring->flush().code, errc::io);
  ASSERT_TRUE(t.ring->resume().ok());
  ASSERT_TRUE(t.line_now("and on\n").ok());
  const std::string text = lines_in(t.path());
  EXPECT_THAT(text, StartsWith("penstock: the file of this ring was truncated"));
  EXPECT_THAT(text, ::testing::EndsWith("kept\nand on\n"));
}

TEST(MmapRingFaults, SaysHowMuchOfABatchWentWithTheFile) {
  ring_under_test t;
  backend_double backend(*t.ring);
  ASSERT_TRUE(backend.line("in the file that is truncated\n").ok());
  std::filesystem::resize_file(t.path(), 0);
  // This store meets the truncated page; the line that it belongs to may have begun before.
  ASSERT_TRUE(backend.line("torn\n").ok());
  ASSERT_TRUE(backend.line("whole\n").ok());
  EXPECT_EQ(backend.submit().code, errc::io);
  ASSERT_TRUE(t.ring->resume().ok());
  const std::string text = lines_in(t.path());
  EXPECT_THAT(text, HasSubstr("35 bytes of the batch being written are lost\nwhole\n"));
  EXPECT_EQ(text.find('\0'), std::string::npos);
}

TEST(MmapRingFaults, LeavesOutTheRestOfALineWhoseBeginningIsLost) {
  ring_under_test t;
  backend_double backend(*t.ring);
  ASSERT_TRUE(backend.line(std::string(10'000, 'a')).ok());  // one batch is submitted, the line goes on
  std::filesystem::resize_file(t.path(), 0);
  ASSERT_TRUE(backend.line("rest\nnext\n").ok());
  EXPECT_EQ(backend.submit().code, errc::io);
  ASSERT_TRUE(t.ring->resume().ok());
  EXPECT_THAT(lines_in(t.path()), ::testing::EndsWith("are lost\nnext\n"));
}

TEST(MmapRingFaults, CountsAHeldBatchThatIsGivenUp) {
  ring_under_test t;
  std::filesystem::resize_file(t.path(), 0);
  EXPECT_EQ(t.line_now("given up\n").code, errc::io);
  EXPECT_EQ(t.ring->abandon(), 9U);
  EXPECT_TRUE(t.ring->flush().ok());
  EXPECT_FALSE(t.ring->lend({}).room.empty());
}

TEST(MmapRingFaults, KeepsTheBatchUntilANewFileCanBeMade) {
  ring_under_test t;
  std::filesystem::resize_file(t.path(), 0);
  EXPECT_EQ(t.line_now("kept\n").code, errc::io);
  faulty_calls calls;
  calls.allocate_error = ENOSPC;
  EXPECT_EQ(t.ring->resume().code, errc::no_space);
  EXPECT_EQ(t.ring->resume().code, errc::no_space);
  EXPECT_TRUE(t.ring->lend({}).room.empty());
  calls.allocate_error = 0;
  EXPECT_TRUE(t.ring->resume().ok());
  EXPECT_THAT(lines_in(t.path()), ::testing::EndsWith("\nkept\n"));
}

TEST(MmapRingFaults, NoticesTruncationInUpkeepAndSaysSoOnce) {
  ring_under_test t;
  ASSERT_TRUE(t.line_now("gone\n").ok());
  std::filesystem::resize_file(t.path(), 4096);
  EXPECT_EQ(t.ring->maintain().code, errc::io);
  EXPECT_TRUE(t.ring->maintain().ok());
  ASSERT_TRUE(t.line_now("on\n").ok());
  EXPECT_THAT(lines_in(t.path()), ::testing::EndsWith("a new one begins here\non\n"));
  EXPECT_EQ(std::filesystem::file_size(t.folder / "ring.damaged"), 4096U);
}

TEST(MmapRingFaults, NoticesTruncationInUpkeepWhileABatchIsLent) {
  ring_under_test t;
  backend_double backend(*t.ring);
  ASSERT_TRUE(backend.line("first\n").ok());
  std::filesystem::resize_file(t.path(), 32 << 10);  // behind what was written so far
  EXPECT_TRUE(t.ring->maintain().ok());
  ASSERT_TRUE(backend.line("second\n").ok());
  EXPECT_EQ(backend.submit().code, errc::io);
  ASSERT_TRUE(t.ring->resume().ok());
  EXPECT_THAT(lines_in(t.path()), ::testing::EndsWith("a new one begins here\nfirst\nsecond\n"));
}

TEST(MmapRingFaults, MakesANewFileWhenItsOwnWasDeleted) {
  ring_under_test t;
  ASSERT_TRUE(t.line_now("in the deleted file\n").ok());
  std::filesystem::remove(t.path());
  ASSERT_TRUE(t.line_now("there, too\n").ok());
  EXPECT_TRUE(t.ring->maintain().ok());
  ASSERT_TRUE(t.line_now("in the new file\n").ok());
  EXPECT_EQ(lines_in(t.path()), "in the new file\n");
  EXPECT_EQ(ring_reader(t.path()).facts().frames.newest->sequence, 3U);
}

TEST(MmapRingFaults, PutsTheOpenBatchIntoTheNewFile) {
  ring_under_test t;
  ASSERT_TRUE(t.line_now("before\n").ok());
  backend_double backend(*t.ring);
  ASSERT_TRUE(backend.line("laid out before the change\n").ok());
  std::filesystem::rename(t.path(), t.folder / "moved");
  ASSERT_TRUE(t.ring->maintain().ok());
  ASSERT_TRUE(backend.line_now("and after it\n").ok());
  EXPECT_EQ(lines_in(t.folder / "moved"), "before\n");
  EXPECT_EQ(lines_in(t.path()), "laid out before the change\nand after it\n");
  EXPECT_EQ(ring_reader(t.path()).facts().frames.newest->sequence, 2U);
}

TEST(MmapRingFaults, DividesNoLineBetweenTwoFiles) {
  ring_under_test t;
  backend_double backend(*t.ring);
  const std::string long_line = std::string(12'000, 'a') + "\n";
  ASSERT_TRUE(backend.line(long_line.substr(0, 10'000)).ok());  // one batch submitted, one open
  std::filesystem::rename(t.path(), t.folder / "moved");
  ASSERT_TRUE(t.ring->maintain().ok());
  ASSERT_TRUE(backend.line(long_line.substr(10'000)).ok());
  ASSERT_TRUE(backend.submit().ok());
  ASSERT_TRUE(backend.line_now("next\n").ok());
  EXPECT_EQ(lines_in(t.folder / "moved"), long_line);
  EXPECT_EQ(lines_in(t.path()), "next\n");
}

TEST(MmapRingFaults, KeepsItsFileWhenAnotherStandsAtThePathAndIsNoRing) {
  ring_under_test t;
  std::filesystem::rename(t.path(), t.folder / "moved");
  write_text(t.path(), "somebody's text\n");
  EXPECT_FALSE(t.ring->reopen().ok());
  ASSERT_TRUE(t.line_now("line\n").ok());
  EXPECT_EQ(lines_in(t.folder / "moved"), "line\n");
  EXPECT_EQ(text_of(t.path()), "somebody's text\n");
}

TEST(MmapRingFaults, ReportsAFailedSyncAndDoesNotTakeTheNextAnswerForTheFirst) {
  ring_under_test t(sync_policy{.each_batch = true});
  ASSERT_TRUE(t.line_now("line\n").ok());
  faulty_calls calls;
  calls.syncs = {{.os_error = EINTR}, {.os_error = EIO}};
  EXPECT_EQ(t.ring->sync(), (outcome{errc::io, EIO}));
  EXPECT_EQ(calls.sync_count, 2U);
  EXPECT_TRUE(t.ring->sync().ok());
  EXPECT_EQ(calls.sync_count, 3U);
  EXPECT_TRUE(t.ring->sync().ok());
  EXPECT_EQ(calls.sync_count, 3U) << "nothing was written since";
}

/// Overwrites bytes of a file, as no writer would.
void scribble(const std::filesystem::path& path, std::streamoff offset, std::string_view bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(offset);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

TEST(MmapRingFaults, ChecksumsShowBytesThatNeverReachedTheMedium) {
  ring_under_test t(sync_policy{.interval = std::chrono::seconds(1)});
  ASSERT_TRUE(t.line_now("first\n").ok());
  ASSERT_TRUE(t.line_now("second\n").ok());
  t.ring.reset();
  const std::string before = text_of(t.path());
  scribble(t.path(), static_cast<std::streamoff>(before.find("second")), std::string_view("\0\0\0", 3));
  EXPECT_EQ(lines_in(t.path()), "first\n");
  t.restart();
  ASSERT_TRUE(t.line_now("third\n").ok());
  EXPECT_EQ(lines_in(t.path()), "first\nthird\n");
}

TEST(MmapRingFaults, FindsTheFramesAgainWhenTheHeaderPageIsOlderThanThey) {
  ring_under_test t(sync_policy{.each_batch = true});
  std::string written;
  const auto lap = [&](int from, int to) {
    for (int n = from; n < to; ++n) {
      const std::string line = "line " + std::to_string(n) + std::string(500, '.') + "\n";
      written += line;
      ASSERT_TRUE(t.line_now(line).ok());
    }
  };
  lap(0, 50);
  t.ring.reset();
  const std::string old_header = text_of(t.path()).substr(0, 4096);
  t.restart();
  lap(50, 400);
  t.ring.reset();
  const std::string expected = lines_in(t.path());
  ASSERT_GT(expected.size(), 40'000U);
  scribble(t.path(), 0, old_header);
  // Frames that had been given up already, but not overwritten, may come back.
  const std::string found = lines_in(t.path());
  EXPECT_TRUE(found.ends_with(expected));
  EXPECT_TRUE(written.ends_with(found));
  t.restart();
  ASSERT_TRUE(t.line_now("on\n").ok());
  const std::string after = lines_in(t.path());
  EXPECT_GT(after.size(), 40'000U);
  EXPECT_TRUE((written + "on\n").ends_with(after));
  EXPECT_EQ(ring_reader(t.path()).facts().frames.newest->sequence, 401U);
}

TEST(MmapRingFaults, DoesNotTakeAFrameInALinesTextForAFrame) {
  // A file of zeros but for one frame that was copied out of another ring.
  ring_under_test other;
  ASSERT_TRUE(other.line_now("forged\n").ok());
  const std::string forged = text_of(other.path()).substr(4096, 48);
  ring_under_test t;
  scribble(t.path(), 4096, forged);
  EXPECT_EQ(lines_in(t.path()), "");
}

TEST(MmapRingFaults, StaysInsideTheFileWhateverStandsInIt) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    ring_under_test t;
    random_lines lines(static_cast<unsigned>(round));
    for (int n = 0; n < 300; ++n) ASSERT_TRUE(t.line_now(lines.next(400)).ok());
    t.ring.reset();
    for (int n = 0; n < 20; ++n) {
      const auto offset = static_cast<std::streamoff>(n < 3 ? 64 + random() % 80 : 4096 + random() % 60'000);
      const auto byte = static_cast<char>(random());
      scribble(t.path(), offset, {&byte, 1});
    }
    static_cast<void>(lines_in(t.path()));
    t.restart();
    for (int n = 0; n < 300; ++n) ASSERT_TRUE(t.line_now(lines.next(400)).ok());
  }
}

}  // namespace
}  // namespace penstock::testing
