// SPDX-License-Identifier: MIT
// What write, pwrite and stdio have in common, for each of them and each page-cache policy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <tuple>

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
using penstock::testing::file_size_limit;
using penstock::testing::random_lines;
using penstock::testing::temp_folder;
using penstock::testing::text_of;
using penstock::testing::write_text;

struct variant {
  const char* type;
  page_cache_policy page_cache;
};

class FileSink : public ::testing::TestWithParam<variant> {
 protected:
  sink_config settings() {
    sink_config made;
    made.type = GetParam().type;
    made.page_cache = GetParam().page_cache;
    made.path = path;
    made.batch_size = 16384;
    return made;
  }
  std::unique_ptr<sink> make() { return make_sink(settings()); }
  bool reached_by_table() const { return std::string_view(GetParam().type) != "stdio"; }

  temp_folder folder;
  fs::path path = folder / "log";
};

TEST_P(FileSink, WritesTheSameBytesForRandomLinesAndFlushPoints) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    fs::remove(path);
    random_lines lines(seed);
    std::string expected;
    {
      const auto made = make();
      backend_double backend(*made);
      for (int i = 0; i < 200; ++i) {
        const std::string line = lines.next(seed % 4 == 0 ? 30'000 : 500);
        expected += line;
        ASSERT_TRUE(backend.line(line).ok());
        if (!lines.now_and_then(seed % 4 == 0 ? 20 : 6)) continue;
        ASSERT_TRUE(backend.submit().ok());
        // Every reader sees the text and only the text, at any time.
        ASSERT_EQ(text_of(path), expected) << "seed " << seed << ", line " << i;
      }
      ASSERT_TRUE(backend.submit().ok());
      ASSERT_TRUE(made->flush().ok());
    }
    ASSERT_EQ(text_of(path), expected) << "seed " << seed;
  }
}

TEST_P(FileSink, GoesOnAtTheEndOfTheFileThatIsThere) {
  std::string expected(5000, 'x');
  expected += '\n';
  write_text(path, expected);
  for (int run = 0; run < 3; ++run) {
    const auto made = make();
    backend_double backend(*made);
    for (int i = 0; i < 300; ++i) {
      const std::string line = "run " + std::to_string(run) + " line " + std::to_string(i) + '\n';
      expected += line;
      ASSERT_TRUE(backend.line(line).ok());
    }
    ASSERT_TRUE(backend.submit().ok());
  }
  EXPECT_EQ(text_of(path), expected);
}

TEST_P(FileSink, StartsANewLineAfterHalfALineThatAKilledProcessLeft) {
  write_text(path, "whole\nhal");
  const auto made = make();
  ASSERT_TRUE(backend_double(*made).line_now("next\n").ok());
  EXPECT_EQ(text_of(path), "whole\nhal\nnext\n");
}

TEST_P(FileSink, LendsTheSameRoomUntilSomethingIsSubmitted) {
  const auto made = make();
  const batch first = made->lend({});
  EXPECT_EQ(made->lend({}).room.data(), first.room.data());
  EXPECT_TRUE(made->submit(0).ok());
  EXPECT_EQ(made->lend({}).room.data(), first.room.data());
  EXPECT_EQ(text_of(path), "");
}

TEST_P(FileSink, HoldsWhatAFullDiskLeftAndGoesOnFromTheNextByte) {
  std::string expected;
  const auto made = make();
  backend_double backend(*made);
  outcome full;
  {
    const file_size_limit limit(20'001);
    random_lines lines(7);
    for (int i = 0; i < 2000 && full.ok(); ++i) {
      const std::string line = lines.next(100);
      expected += line;
      full = backend.line(line);
    }
    EXPECT_EQ(full, (outcome{errc::no_space, EFBIG}));
    EXPECT_TRUE(made->lend({}).room.empty());
    EXPECT_EQ(made->resume(), (outcome{errc::no_space, EFBIG}));
    EXPECT_EQ(made->flush(), (outcome{errc::no_space, EFBIG}));
    EXPECT_EQ(made->sync(), (outcome{errc::no_space, EFBIG}));
    EXPECT_EQ(text_of(path).size(), 20'001U);
  }
  ASSERT_TRUE(made->resume().ok());
  EXPECT_TRUE(made->flush().ok());
  const std::string written = text_of(path);
  EXPECT_GT(written.size(), 20'001U);
  EXPECT_EQ(written, expected.substr(0, written.size()));
  EXPECT_FALSE(made->lend({}).room.empty());
}

TEST_P(FileSink, SaysHowMuchItGaveUpAndKeepsTheSeamWhole) {
  const auto made = make();
  backend_double backend(*made);
  ASSERT_TRUE(backend.line_now("first\n").ok());
  {
    const file_size_limit limit(9);
    EXPECT_EQ(backend.line_now("second\nthird\n"), (outcome{errc::no_space, EFBIG}));
  }
  EXPECT_EQ(made->abandon(), 10U);
  EXPECT_TRUE(made->flush().ok());
  ASSERT_TRUE(backend.line_now("fourth\n").ok());
  EXPECT_EQ(text_of(path), "first\nsec\nfourth\n");
  EXPECT_EQ(made->abandon(), 0U);
  ASSERT_TRUE(backend.line_now("fifth\n").ok());
  EXPECT_EQ(text_of(path), "first\nsec\nfourth\nfifth\n");
}

TEST_P(FileSink, PutsNoEmptyLineWhereItGaveUpBetweenLines) {
  const auto made = make();
  backend_double backend(*made);
  ASSERT_TRUE(backend.line_now("first\n").ok());
  {
    const file_size_limit limit(6);
    EXPECT_FALSE(backend.line_now("second\n").ok());
    EXPECT_EQ(made->abandon(), 7U);
    EXPECT_FALSE(backend.line_now("third\n").ok());
    EXPECT_EQ(made->abandon(), 6U);
  }
  ASSERT_TRUE(backend.line_now("fourth\n").ok());
  EXPECT_EQ(text_of(path), "first\nfourth\n");
}

TEST_P(FileSink, LosesNothingToShortCountsInterruptionsAndErrorsThatPass) {
  if (!reached_by_table()) GTEST_SKIP() << "SKIPPED: libc's own write calls do not go through the table; RLIMIT_FSIZE tests this sink";
  std::string expected;
  faulty_calls faults;
  const auto made = make();
  backend_double backend(*made);
  random_lines lines(11);
  std::mt19937 random(5);
  for (int i = 0; i < 500; ++i) {
    if (i % 3 == 0) {
      faults.writes.push_back({.at_most_bytes = 1 + random() % 5000});
      faults.writes.push_back({.os_error = EINTR});
      if (random() % 4 == 0) faults.writes.push_back({.os_error = random() % 2 == 0 ? EIO : ENOSPC});
    }
    const std::string line = lines.next(200);
    expected += line;
    outcome result = backend.line_now(line);
    for (int again = 0; again < 100 && !result.ok(); ++again) result = made->resume();
    ASSERT_TRUE(result.ok());
  }
  EXPECT_EQ(text_of(path), expected);
}

TEST_P(FileSink, GoesOnAtTheRealEndWhenTheFileIsTruncated) {
  const auto made = make();
  backend_double backend(*made);
  ASSERT_TRUE(backend.line_now("before\n").ok());
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  ASSERT_TRUE(backend.line_now("after\n").ok());
  ASSERT_TRUE(backend.line_now("and on\n").ok());
  EXPECT_EQ(text_of(path), "after\nand on\n");
}

TEST_P(FileSink, FollowsAFileThatWasMovedAway) {
  const auto made = make();
  backend_double backend(*made);
  ASSERT_TRUE(backend.line_now("old\n").ok());
  ASSERT_TRUE(made->maintain().ok());
  fs::rename(path, folder / "log.1");
  ASSERT_TRUE(backend.line_now("still old\n").ok());
  EXPECT_FALSE(fs::exists(path));
  ASSERT_TRUE(made->maintain().ok());
  ASSERT_TRUE(backend.line_now("new\n").ok());
  EXPECT_EQ(text_of(folder / "log.1"), "old\nstill old\n");
  EXPECT_EQ(text_of(path), "new\n");
}

TEST_P(FileSink, LeavesAMovedFileAloneUnlessItIsToFollow) {
  sink_config fixed = settings();
  fixed.reopen = false;
  const auto made = make_sink(fixed);
  backend_double backend(*made);
  fs::rename(path, folder / "log.1");
  ASSERT_TRUE(made->maintain().ok());
  ASSERT_TRUE(backend.line_now("old\n").ok());
  EXPECT_EQ(text_of(folder / "log.1"), "old\n");
  ASSERT_TRUE(made->reopen().ok());
  ASSERT_TRUE(backend.line_now("new\n").ok());
  EXPECT_EQ(text_of(path), "new\n");
}

TEST_P(FileSink, KeepsTheOldFileWhenTheNewOneCannotBeOpenedAndSaysSoOnce) {
  const auto made = make();
  backend_double backend(*made);
  fs::create_directory(folder / "elsewhere");
  fs::rename(path, folder / "elsewhere/log");
  fs::create_directory(path);
  EXPECT_EQ(made->maintain(), (outcome{errc::io, EISDIR}));
  EXPECT_TRUE(made->maintain().ok()) << "the same trouble is told once";
  EXPECT_EQ(made->reopen(), (outcome{errc::io, EISDIR}));
  ASSERT_TRUE(backend.line_now("kept\n").ok());
  EXPECT_EQ(text_of(folder / "elsewhere/log"), "kept\n");
  fs::remove(path);
  EXPECT_TRUE(made->maintain().ok());
  ASSERT_TRUE(backend.line_now("new\n").ok());
  EXPECT_EQ(text_of(path), "new\n");
}

TEST_P(FileSink, OpensAnewBetweenTwoLinesOnly) {
  const auto made = make();
  backend_double backend(*made);
  const batch room = made->lend({});
  std::fill(room.room.begin(), room.room.end(), std::byte{'x'});
  ASSERT_TRUE(made->submit(room.room.size()).ok());
  fs::rename(path, folder / "log.1");
  EXPECT_EQ(made->reopen().code, errc::pending);
  EXPECT_EQ(made->lend({}).end, cut::lines);
  ASSERT_TRUE(backend.line_now("yz\n").ok());
  ASSERT_TRUE(backend.line_now("next\n").ok());
  EXPECT_EQ(text_of(folder / "log.1"), std::string(room.room.size(), 'x') + "yz\n");
  EXPECT_EQ(text_of(path), "next\n");
}

TEST_P(FileSink, BringsAHeldLineWholeToTheNewFile) {
  const auto made = make();
  backend_double backend(*made);
  {
    const file_size_limit limit(9);
    EXPECT_FALSE(backend.line_now("first\nsecond\nthird\n").ok());
  }
  fs::remove(path);
  ASSERT_TRUE(made->reopen().ok());
  ASSERT_TRUE(made->resume().ok());
  EXPECT_EQ(text_of(path), "second\nthird\n");
}

TEST_P(FileSink, MeansTheSameFileAfterTheWorkingFolderChanged) {
  const fs::path former = fs::current_path();
  fs::current_path(folder.path());
  sink_config relative = settings();
  relative.path = "relative.log";
  const auto made = make_sink(relative);
  fs::current_path(former);
  fs::remove(folder / "relative.log");
  ASSERT_TRUE(made->maintain().ok());
  ASSERT_TRUE(backend_double(*made).line_now("here\n").ok());
  EXPECT_EQ(text_of(folder / "relative.log"), "here\n");
}

TEST_P(FileSink, TellsAFailureToSyncOnce) {
  faulty_calls faults;
  faults.syncs = {{.os_error = EIO}};
  const auto made = make();
  ASSERT_TRUE(backend_double(*made).line_now("x\n").ok());
  EXPECT_EQ(made->sync(), (outcome{errc::io, EIO}));
  EXPECT_TRUE(made->sync().ok());
  EXPECT_EQ(faults.sync_count, 2U);
}

TEST_P(FileSink, LeavesASinkThatTakesSingleLinesAfterItsEnd) {
  auto made = make();
  ASSERT_TRUE(backend_double(*made).line_now("before\n").ok());
  const auto retired = made->retire();
  made.reset();
  ASSERT_NE(retired, nullptr);
  EXPECT_EQ(retired->describe().kind, GetParam().type);
  EXPECT_GE(retired->lend({}).room.size(), 16384U);
  faulty_calls faults;
  backend_double late(*retired);
  ASSERT_TRUE(late.line_now("late\n").ok());
  // Appended wherever the file ends, since somebody else may have it by now.
  write_text(path, "somebody else's\n");
  ASSERT_TRUE(late.line_now("later\n").ok());
  EXPECT_EQ(text_of(path), "somebody else's\nlater\n");
  EXPECT_EQ(faults.write_bytes.size(), 2U) << "one write for each line";
  EXPECT_TRUE(retired->sync().ok());
}

TEST_P(FileSink, MayBeOpenedAgainOnceItIsRetired) {
  const auto made = make();
  const auto retired = made->retire();
  const auto again = make();
  ASSERT_TRUE(backend_double(*again).line_now("again\n").ok());
  EXPECT_EQ(text_of(path), "again\n");
}

TEST_P(FileSink, SurvivesTheFileSizeLimitOnAThreadWithoutMaskedSignalsOnceItIsRetired) {
  EXPECT_EQ(penstock::testing::status_of_child([&] {
              std::signal(SIGXFSZ, SIG_DFL);
              const auto retired = make()->retire();
              const rlimit limit{3, RLIM_INFINITY};
              ::setrlimit(RLIMIT_FSIZE, &limit);
              return backend_double(*retired).line_now("late\n") == outcome{errc::no_space, EFBIG} && retired->abandon() == 2 ? 0 : 1;
            }),
            0);
}

TEST_P(FileSink, IsForgottenByAForkedChildWithoutATrace) {
  auto made = make();
  backend_double backend(*made);
  ASSERT_TRUE(backend.line_now("parent\n").ok());
  ASSERT_TRUE(backend.line("unfinished ").ok());
  EXPECT_EQ(penstock::testing::status_of_child([&] {
              made->disown_after_fork();
              made.reset();
              return 0;
            }),
            0);
  EXPECT_EQ(text_of(path), "parent\n");
  const bool exclusive = std::string_view(GetParam().type) != "write";
  if (exclusive) {
    EXPECT_THROW(make(), std::system_error) << "the parent's lock holds";
  }
  ASSERT_TRUE(backend.line_now("line\n").ok());
  EXPECT_EQ(text_of(path), "parent\nunfinished line\n");
}

const variant variants[] = {{"write", page_cache_policy::keep},  {"write", page_cache_policy::drop},    {"pwrite", page_cache_policy::keep},
                            {"pwrite", page_cache_policy::drop}, {"pwrite", page_cache_policy::direct}, {"stdio", page_cache_policy::keep}};

std::string name_of_variant(const ::testing::TestParamInfo<variant>& chosen) {
  const char* const policies[] = {"keep", "drop", "direct"};
  return std::string(chosen.param.type) + "_" + policies[static_cast<std::size_t>(chosen.param.page_cache)];
}

INSTANTIATE_TEST_SUITE_P(All, FileSink, ::testing::ValuesIn(variants), name_of_variant);

}  // namespace
}  // namespace penstock::sinks
