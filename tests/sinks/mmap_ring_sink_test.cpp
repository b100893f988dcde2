// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <random>
#include <system_error>

#include "sinks/ring_frames.hpp"
#include "tests/sinks/backend_double.hpp"
#include "tests/sinks/ring_support.hpp"
#include "tests/support/faulty_calls.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::testing {
namespace {

using sinks::make_mmap_ring_sink;
using sinks::ring_reader;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(MmapRing, GivesBackEachLineByteForByteOldestFirst) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  backend_double backend(*ring);
  std::string written;
  random_lines lines(1);
  while (written.size() < 30'000) {
    const std::string line = lines.next(300);
    written += line;
    ASSERT_TRUE(backend.line(line).ok());
    if (lines.now_and_then(20)) {
      ASSERT_TRUE(backend.submit().ok());
    }
  }
  ASSERT_TRUE(backend.submit().ok());
  EXPECT_EQ(lines_in(folder / "ring"), written);
}

TEST(MmapRing, KeepsTheNewestLinesWholeOverManyLaps) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  backend_double backend(*ring);
  std::string written;
  random_lines lines(2);
  for (int check = 0; check < 50; ++check) {
    for (int n = 0; n < 97; ++n) {
      const std::string line = lines.next(700);
      written += line;
      ASSERT_TRUE(backend.line(line).ok());
      if (lines.now_and_then(9)) {
        ASSERT_TRUE(backend.submit().ok());
      }
    }
    ASSERT_TRUE(backend.submit().ok());
    const std::string kept = lines_in(folder / "ring");
    ASSERT_THAT(written, EndsWith(kept));
    ASSERT_TRUE(kept.size() == written.size() || written[written.size() - kept.size() - 1] == '\n');
    ASSERT_TRUE(kept.size() == written.size() || kept.size() > 40'000) << kept.size();
  }
}

TEST(MmapRing, ReadsALineThatIsLongerThanManyBatches) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  backend_double backend(*ring);
  const std::string line = std::string(20'000, 'x') + "end\n";
  ASSERT_TRUE(backend.line_now("first\n").ok());
  ASSERT_TRUE(backend.line_now(line).ok());
  EXPECT_EQ(lines_in(folder / "ring"), "first\n" + line);
}

TEST(MmapRing, LeavesOutALineWhoseBeginningWasOverwritten) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  backend_double backend(*ring);
  ASSERT_TRUE(backend.line_now(std::string(100'000, 'x') + "\n").ok());
  ASSERT_TRUE(backend.line_now("next\n").ok());
  EXPECT_EQ(lines_in(folder / "ring"), "next\n");
}

TEST(MmapRing, LendsPagesThatEndOnAPageOfTheFile) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring", 1 << 20));
  for (int n = 0; n < 1'000; ++n) {
    const batch lent = ring->lend({});
    ASSERT_EQ(lent.end, cut::pages);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(lent.room.data() + lent.room.size()) % 4096, 0U);
    ASSERT_GE(lent.room.size(), 4096U);
    ASSERT_EQ(ring->lend({}).room.data(), lent.room.data());
    std::ranges::fill(lent.room, std::byte{'\n'});
    ASSERT_TRUE(ring->submit(n % 3 == 0 ? lent.room.size() : static_cast<std::size_t>(n)).ok());
  }
}

TEST(MmapRing, TakesBackUnusedRoomWithoutATrace) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  static_cast<void>(ring->lend({}));
  EXPECT_TRUE(ring->submit(0).ok());
  EXPECT_EQ(ring_reader(folder / "ring").facts().frames.frame_count, 0U);
}

TEST(MmapRing, AllocatesRealBlocksUpFront) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring", 1 << 20));
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "ring").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, 1 << 20);
  EXPECT_GE(facts.st_blocks * 512, 1 << 20);
}

TEST(MmapRing, GoesOnBehindTheLastFrameAfterARestart) {
  const temp_folder folder;
  std::string written;
  for (int run = 0; run < 20; ++run) {
    const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
    for (int n = 0; n < 7; ++n) {
      const std::string line = "run " + std::to_string(run) + " line " + std::to_string(n) + "\n";
      ASSERT_TRUE(backend_double(*ring).line_now(line).ok());
      written += line;
    }
  }
  EXPECT_EQ(lines_in(folder / "ring"), written);
  const auto facts = ring_reader(folder / "ring").facts();
  EXPECT_EQ(facts.frames.newest->sequence, 140U);
  EXPECT_EQ(facts.owner_pid, 0);
}

TEST(MmapRing, FindsTheEndOfWhatAKilledWriterCommitted) {
  const temp_folder folder;
  const int status = status_of_child([&] {
    const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
    backend_double backend(*ring);
    if (!backend.line_now("committed\n").ok() || !backend.line("laid out, but never committed\n").ok()) return 1;
    ::_exit(42);  // no destructor runs, as after a kill
  });
  ASSERT_EQ(status, 42);
  EXPECT_EQ(lines_in(folder / "ring"), "committed\n");
  const auto facts = ring_reader(folder / "ring").facts();
  EXPECT_NE(facts.owner_pid, 0);
  EXPECT_FALSE(facts.owner_lives);
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  ASSERT_TRUE(backend_double(*ring).line_now("after the restart\n").ok());
  EXPECT_EQ(lines_in(folder / "ring"), "committed\nafter the restart\n");
}

TEST(MmapRing, LeavesOutAndCountsALineThatItsWriterNeverFinished) {
  const temp_folder folder;
  {
    const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
    ASSERT_TRUE(backend_double(*ring).line_now("whole\nhal").ok());
  }
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  ASSERT_TRUE(backend_double(*ring).line_now("f of another\n").ok());
  ring_reader reader(folder / "ring");
  EXPECT_EQ(lines_in(reader), "whole\nf of another\n");
  EXPECT_EQ(reader.losses().unfinished_lines, 1U);
  EXPECT_EQ(reader.losses().unfinished_line_bytes, 3U);
}

TEST(MmapRing, RefusesASecondWriterWithTheFirstOnesPid) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  ASSERT_TRUE(backend_double(*ring).line_now("mine\n").ok());
  const auto refusal = refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "ring")); });
  EXPECT_THAT(refusal, HasSubstr(std::to_string(::getpid())));
  EXPECT_THAT(refusal, HasSubstr((folder / "ring").string()));
  ASSERT_TRUE(backend_double(*ring).line_now("still mine\n").ok());
  EXPECT_EQ(lines_in(folder / "ring"), "mine\nstill mine\n");
}

TEST(MmapRing, RefusesAFileThatIsNoRingAndLeavesItAlone) {
  const temp_folder folder;
  for (const std::string& text : {std::string("x"), std::string(64 << 10, 'y'), std::string(64 << 10, '\0')}) {
    write_text(folder / "file", text);
    EXPECT_THAT(refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "file")); }), HasSubstr("not a ring file: move it away"));
    EXPECT_EQ(text_of(folder / "file"), text);
    EXPECT_THAT(refusal_of([&] { return ring_reader(folder / "file"); }), HasSubstr("not a ring file"));
  }
}

TEST(MmapRing, RefusesAnotherSizeThanTheFilesAndNamesBoth) {
  const temp_folder folder;
  { const auto ring = make_mmap_ring_sink(small_ring(folder / "ring", 128 << 10)); }
  const auto refusal = refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "ring", 1 << 20)); });
  EXPECT_THAT(refusal, HasSubstr("131072 bytes"));
  EXPECT_THAT(refusal, HasSubstr("set size = \"128 KiB\""));
  EXPECT_THAT(refusal, HasSubstr("\"1 MiB\" (1048576 bytes)"));
}

TEST(MmapRing, RefusesSizesThatNoRingCanHave) {
  const temp_folder folder;
  EXPECT_THAT(refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "ring", 4096)); }), HasSubstr("the least is \"64 KiB\""));
  EXPECT_THAT(refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "ring", 100'000)); }), HasSubstr("try \"100 KiB\""));
  EXPECT_FALSE(std::filesystem::exists(folder / "ring"));
}

TEST(MmapRing, RefusesWhatIsNoRegularFile) {
  const temp_folder folder;
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "fifo")); }), HasSubstr("not a regular file"));
  EXPECT_THAT(refusal_of([&] { return ring_reader(folder / "fifo"); }), HasSubstr("not a regular file"));
  EXPECT_NE(refusal_of([&] { return make_mmap_ring_sink(small_ring(folder.path())); }), "");
}

TEST(MmapRing, LeavesNoStubBehindWhenTheDiskIsFullOrRefuses) {
  const temp_folder folder;
  faulty_calls calls;
  for (const int os_error : {ENOSPC, EDQUOT, ENODEV, EROFS}) {
    calls.allocate_error = os_error;
    const auto refusal = refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "ring", 4 << 20)); });
    EXPECT_THAT(refusal, HasSubstr("cannot allocate the 4194304 bytes"));
    EXPECT_THAT(refusal, HasSubstr(std::generic_category().message(os_error)));
    EXPECT_FALSE(std::filesystem::exists(folder / "ring"));
  }
  calls.allocate_error = 0;
  EXPECT_EQ(refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "ring", 4 << 20)); }), "");
}

TEST(MmapRing, LeavesAnEmptyFileEmptyWhenTheDiskIsFull) {
  const temp_folder folder;
  write_text(folder / "ring", "");
  faulty_calls calls;
  calls.allocate_error = ENOSPC;
  EXPECT_NE(refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "ring")); }), "");
  EXPECT_EQ(std::filesystem::file_size(folder / "ring"), 0U);
}

TEST(MmapRing, FailsWithoutASignalAtAFileSizeLimit) {
  const temp_folder folder;
  const int status = status_of_child([&] {
    const rlimit limit{.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto refusal = refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "ring", 4 << 20)); });
    return refusal.find("File too large") == std::string::npos ? 1 : 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "ring"));
}

TEST(MmapRing, WritesZerosWhereTheFileSystemCannotAllocate) {
  const temp_folder folder;
  faulty_calls calls;
  calls.allocate_error = EOPNOTSUPP;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring", 1 << 20));
  struct stat facts {};
  ASSERT_EQ(::stat((folder / "ring").c_str(), &facts), 0);
  EXPECT_GE(facts.st_blocks * 512, 1 << 20);
  ASSERT_TRUE(backend_double(*ring).line_now("line\n").ok());
  EXPECT_EQ(lines_in(folder / "ring"), "line\n");
}

TEST(MmapRing, BeginsAnewWhereItsMakingWasCutOff) {
  const temp_folder folder;
  const int status = status_of_child([&] {
    faulty_calls calls;
    os::system_calls table = os::calls();
    table.fallocate = [](int, int, off_t, off_t) noexcept -> int { ::_exit(42); };
    const os::scoped_system_calls scope(table);
    static_cast<void>(make_mmap_ring_sink(small_ring(folder / "ring")));
    return 1;
  });
  ASSERT_EQ(status, 42);
  EXPECT_THAT(refusal_of([&] { return ring_reader(folder / "ring"); }), HasSubstr("not finished"));
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  ASSERT_TRUE(backend_double(*ring).line_now("line\n").ok());
  EXPECT_EQ(lines_in(folder / "ring"), "line\n");
}

TEST(MmapRing, GivesItsMappingToTheSinkThatTakesLinesAfterStop) {
  const temp_folder folder;
  auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  ASSERT_TRUE(backend_double(*ring).line_now("before\n").ok());
  const auto retired = ring->retire();
  ASSERT_NE(retired, nullptr);
  EXPECT_TRUE(ring->lend({}).room.empty());
  ring.reset();
  ASSERT_TRUE(backend_double(*retired).line_now("after\n").ok());
  EXPECT_EQ(lines_in(folder / "ring"), "before\nafter\n");
  EXPECT_EQ(ring_reader(folder / "ring").facts().owner_pid, ::getpid());
  EXPECT_TRUE(ring_reader(folder / "ring").facts().owner_stopped);
}

TEST(MmapRing, IsForgottenInAForkedChildAndGoesOnInTheParent) {
  const temp_folder folder;
  auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  ASSERT_TRUE(backend_double(*ring).line_now("before\n").ok());
  const int status = status_of_child([&] {
    ring->disown_after_fork();
    if (!ring->lend({}).room.empty()) return 1;
    ring.reset();
    return 0;
  });
  EXPECT_EQ(status, 0);
  ASSERT_TRUE(backend_double(*ring).line_now("after\n").ok());
  EXPECT_EQ(lines_in(folder / "ring"), "before\nafter\n");
  EXPECT_EQ(ring_reader(folder / "ring").facts().owner_pid, ::getpid());
  EXPECT_NE(refusal_of([&] { return make_mmap_ring_sink(small_ring(folder / "ring")); }), "");
}

TEST(MmapRing, DoesNotTouchTheMappingInAChildWithoutForkHandlers) {
  const temp_folder folder;
  auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  EXPECT_EQ(status_of_child([&] {
              ring.reset();
              return 0;
            }),
            0);
}

TEST(MmapRing, DescribesItself) {
  const temp_folder folder;
  EXPECT_EQ(make_mmap_ring_sink(small_ring(folder / "ring"))->describe().kind, "mmap_ring");
}

}  // namespace
}  // namespace penstock::testing
