// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <system_error>
#include <tuple>

#include "tests/sinks/backend_double.hpp"
#include "tests/sinks/io_uring_driver.hpp"
#include "tests/support/process.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using penstock::testing::io_uring_driver;
using penstock::testing::random_lines;
using penstock::testing::temp_folder;
using penstock::testing::text_of;
using penstock::testing::write_text;

class IoUringSink : public ::testing::TestWithParam<std::tuple<unsigned, page_cache_policy>> {
 protected:
  void SetUp() override {
    if (const std::string reason = penstock::testing::io_uring_refusal(); !reason.empty())
      GTEST_SKIP() << "io_uring cannot be used here: " << reason;
  }
  sink_config settings() {
    sink_config made;
    made.type = "io_uring";
    made.path = path;
    made.batch_size = 16384;
    made.strict = true;
    std::tie(made.queue_depth, made.page_cache) = GetParam();
    return made;
  }
  std::unique_ptr<sink> make() { return make_io_uring_sink(settings()); }

  temp_folder folder;
  fs::path path = folder / "log";
};

/// True if the file holds at least what is not in flight any more, and nothing but the text.
bool prefix_is_written(const std::string& file, const std::string& text, std::uint64_t in_flight_bytes, std::size_t submitted_bytes) {
  const std::size_t written_bytes = submitted_bytes - static_cast<std::size_t>(in_flight_bytes);
  return file.size() >= written_bytes && text.compare(0, written_bytes, file, 0, written_bytes) == 0;
}

TEST_P(IoUringSink, WritesTheSameBytesForRandomLinesAndFlushPoints) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    fs::remove(path);
    random_lines lines(seed);
    std::string expected;
    {
      const auto made = make();
      io_uring_driver driver(*made);
      for (int i = 0; i < 400; ++i) {
        const std::string line = lines.next(seed % 4 == 0 ? 30'000 : 500);
        expected += line;
        ASSERT_TRUE(driver.text(line).ok());
        if (lines.now_and_then(12)) {
          ASSERT_TRUE(driver.submit().ok());
        }
        if (lines.now_and_then(40)) {
          ASSERT_TRUE(driver.flush().ok());
          ASSERT_EQ(made->in_flight_bytes(), 0U);
          ASSERT_EQ(text_of(path), expected) << "seed " << seed << ", line " << i;
        }
      }
      ASSERT_TRUE(driver.flush().ok());
    }
    ASSERT_EQ(text_of(path), expected) << "seed " << seed;
  }
}

TEST_P(IoUringSink, SaysOfNothingThatItIsWrittenBeforeItIsInTheFile) {
  const auto made = make();
  io_uring_driver driver(*made);
  random_lines lines(7);
  std::string expected;
  for (int i = 0; i < 300; ++i) {
    const std::string line = lines.next(4000);
    expected += line;
    ASSERT_TRUE(driver.text(line).ok());
    const std::uint64_t in_flight_bytes = made->in_flight_bytes();
    ASSERT_LE(in_flight_bytes, std::get<0>(GetParam()) * 16384U);
    ASSERT_TRUE(prefix_is_written(text_of(path), expected, in_flight_bytes, driver.submitted_bytes())) << "line " << i;
  }
}

TEST_P(IoUringSink, GoesOnAtTheEndOfTheFileThatIsThere) {
  std::string expected(10'239, 'x');
  expected += '\n';
  write_text(path, expected);
  for (int run = 0; run < 3; ++run) {
    const auto made = make();
    EXPECT_EQ(made->describe().kind, "io_uring");
    io_uring_driver driver(*made);
    const std::string text = std::string(static_cast<std::size_t>(run) * 20'000 + 77, static_cast<char>('a' + run)) + '\n';
    expected += text;
    ASSERT_TRUE(driver.text(text).ok());
    ASSERT_TRUE(driver.flush().ok());
  }
  EXPECT_EQ(text_of(path), expected);
}

TEST_P(IoUringSink, EndsTheHalfLineThatAKilledProcessLeft) {
  write_text(path, "half a li");
  const auto made = make();
  io_uring_driver driver(*made);
  ASSERT_TRUE(driver.text("whole\n").ok());
  ASSERT_TRUE(driver.submit().ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_EQ(made->in_flight_bytes(), 0U);
  EXPECT_EQ(text_of(path), "half a li\nwhole\n");
}

TEST_P(IoUringSink, StartsANewLineAlsoWhereOneByteIsLeftOfAPage) {
  write_text(path, std::string(4095, 'h'));
  sink_config small = settings();
  small.batch_size = 4096;
  std::string expected = std::string(4095, 'h') + '\n';
  {
    const auto made = make_io_uring_sink(small);
    io_uring_driver driver(*made);
    for (int i = 0; i < 50; ++i) {
      const std::string text = std::string(500, 'x') + std::to_string(i) + '\n';
      expected += text;
      ASSERT_TRUE(driver.text(text).ok());
    }
    ASSERT_TRUE(driver.flush().ok());
  }
  EXPECT_EQ(text_of(path), expected);
}

TEST_P(IoUringSink, IsOnTheMediumOnlyWhenAllIsWritten) {
  const auto made = make();
  io_uring_driver driver(*made);
  std::string expected;
  for (int i = 0; i < 5; ++i) {
    const std::string text(50'000, static_cast<char>('a' + i));
    expected += text + '\n';
    ASSERT_TRUE(driver.text(text + '\n').ok());
    ASSERT_TRUE(driver.sync().ok());
    EXPECT_EQ(text_of(path), expected);
  }
  EXPECT_TRUE(made->sync().ok()) << "nothing is new: said at once";
}

TEST_P(IoUringSink, LendsTheSameRoomUntilSomethingIsSubmitted) {
  const auto made = make();
  const batch first = made->lend({});
  ASSERT_FALSE(first.room.empty());
  EXPECT_EQ(first.end, cut::pages);
  EXPECT_EQ(made->lend({}).room.data(), first.room.data());
  EXPECT_TRUE(made->submit(0).ok());
  EXPECT_EQ(made->lend({}).room.data(), first.room.data());
}

TEST_P(IoUringSink, RoomEndsOnAPageOfTheFile) {
  write_text(path, "12345\n");
  const auto made = make();
  EXPECT_EQ(made->lend({}).room.size(), 16384U - 6U);
}

TEST_P(IoUringSink, GivesBackWhatItAllocatedAhead) {
  {
    const auto made = make();
    io_uring_driver driver(*made);
    for (int i = 0; i < 30; ++i) ASSERT_TRUE(driver.text(std::string(99'999, 'x') + '\n').ok());
    ASSERT_TRUE(driver.flush().ok());
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_size, 3'000'000) << "no reader sees what is allocated";
  }
  struct stat facts {};
  ASSERT_EQ(::stat(path.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, 3'000'000);
  EXPECT_LT(facts.st_blocks * 512, 3'100'000);
}

TEST_P(IoUringSink, IsTheOnlyOneWithThatFile) {
  const auto made = make();
  EXPECT_THROW(make(), std::system_error);
}

TEST_P(IoUringSink, LetsGoOfTheFileAtOnce) {
  for (int i = 0; i < 20; ++i) {
    const auto made = make();
    io_uring_driver driver(*made);
    ASSERT_TRUE(driver.text("line\n").ok());
    ASSERT_TRUE(driver.submit().ok());
  }
  EXPECT_EQ(text_of(path).size(), 100U) << "what was submitted is written before the end";
}

TEST_P(IoUringSink, GoesOnInANewFileBetweenTwoLinesWhenTheOldOneWasMoved) {
  const auto made = make();
  io_uring_driver driver(*made);
  ASSERT_TRUE(driver.text("before\nhalf").ok());
  ASSERT_TRUE(driver.submit().ok());
  fs::rename(path, folder / "old");
  EXPECT_EQ(made->reopen().code, errc::pending);
  EXPECT_EQ(made->lend({}).end, cut::lines);
  ASSERT_TRUE(driver.text(" a line\n").ok());
  ASSERT_TRUE(driver.flush().ok());
  ASSERT_TRUE(driver.text("after\n").ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_EQ(text_of(folder / "old"), "before\nhalf a line\n");
  EXPECT_EQ(text_of(path), "after\n");
}

TEST_P(IoUringSink, NoticesThatTheFileWasDeleted) {
  const auto made = make();
  io_uring_driver driver(*made);
  ASSERT_TRUE(driver.text("before\n").ok());
  ASSERT_TRUE(driver.flush().ok());
  fs::remove(path);
  EXPECT_TRUE(made->maintain().ok());
  ASSERT_TRUE(driver.text("after\n").ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_EQ(text_of(path), "after\n");
}

TEST_P(IoUringSink, KeepsTheOldFileWhenTheNewOneCannotBeMade) {
  fs::create_directory(folder / "sub");
  sink_config there = settings();
  there.path = folder / "sub/log";
  const auto made = make_io_uring_sink(there);
  io_uring_driver driver(*made);
  fs::rename(folder / "sub", folder / "gone");
  EXPECT_EQ(made->reopen().os_error, ENOENT);
  ASSERT_TRUE(driver.text("kept\n").ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_EQ(text_of(folder / "gone/log"), "kept\n");
}

TEST_P(IoUringSink, GoesOnWhereAFileThatWasCutOffEnds) {
  const auto made = make();
  io_uring_driver driver(*made);
  ASSERT_TRUE(driver.text(std::string(40'000, 'x') + '\n').ok());
  ASSERT_TRUE(driver.flush().ok());
  fs::resize_file(path, 0);
  ASSERT_TRUE(driver.text("after\n").ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_EQ(text_of(path), "after\n") << "no zeros in front";
  fs::resize_file(path, 3);
  EXPECT_TRUE(made->maintain().ok());
  ASSERT_TRUE(driver.text("more\n").ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_EQ(text_of(path), "aft\nmore\n");
}

TEST_P(IoUringSink, GivesASmallSinkThatAppendsLinesAfterTheEnd) {
  auto made = make();
  io_uring_driver driver(*made);
  ASSERT_TRUE(driver.text("before\n").ok());
  ASSERT_TRUE(driver.submit().ok());
  const std::unique_ptr<sink> small = made->retire();
  made.reset();
  ASSERT_NE(small, nullptr);
  EXPECT_EQ(small->describe().kind, "io_uring");
  penstock::testing::backend_double late(*small);
  ASSERT_TRUE(late.line_now("after\n").ok());
  EXPECT_EQ(text_of(path), "before\nafter\n");
}

TEST_P(IoUringSink, CannotBeUsedByAForkedChild) {
  auto made = make();
  io_uring_driver driver(*made);
  ASSERT_TRUE(driver.text("parent\n").ok());
  ASSERT_FALSE(made->lend({}).room.empty()) << "lent, so that the child inherits a batch";
  const auto child = [&](bool told) {
    return penstock::testing::status_of_child([&] {
      if (told) made->disown_after_fork();
      if (!made->lend({}).room.empty()) return 1;
      if (made->submit(3).code != errc::closed) return 2;
      if (made->flush().code != errc::closed || made->sync().code != errc::closed) return 3;
      if (made->abandon() != 0 || made->retire() != nullptr) return 4;
      made.reset();
      return 0;
    });
  };
  EXPECT_EQ(child(true), 0);
  EXPECT_EQ(child(false), 0);
  ASSERT_TRUE(driver.text("parent again\n").ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_THROW(make(), std::system_error) << "the lock is still the parent's";
  EXPECT_EQ(text_of(path), "parent\nparent again\n");
}

TEST_P(IoUringSink, WritesTheSameBytesToMemory) {
  if (!fs::is_directory("/dev/shm")) GTEST_SKIP() << "there is no folder in memory here";
  const temp_folder memory("/dev/shm");
  sink_config there = settings();
  there.path = memory / "log";
  random_lines lines(3);
  std::string expected;
  {
    const auto made = make_io_uring_sink(there);
    io_uring_driver driver(*made);
    for (int i = 0; i < 2000; ++i) {
      const std::string line = lines.next(3000);
      expected += line;
      ASSERT_TRUE(driver.text(line).ok());
    }
    ASSERT_TRUE(driver.flush().ok());
  }
  EXPECT_EQ(text_of(there.path), expected);
}

std::string name_of_variant(const ::testing::TestParamInfo<std::tuple<unsigned, page_cache_policy>>& one) {
  constexpr const char* names[] = {"Keep", "Drop", "Direct"};
  return "Depth" + std::to_string(std::get<0>(one.param)) + names[static_cast<int>(std::get<1>(one.param))];
}

INSTANTIATE_TEST_SUITE_P(Depths, IoUringSink,
                         ::testing::Combine(::testing::Values(1U, 2U, 4U),
                                            ::testing::Values(page_cache_policy::keep, page_cache_policy::drop, page_cache_policy::direct)),
                         name_of_variant);

}  // namespace
}  // namespace penstock::sinks
