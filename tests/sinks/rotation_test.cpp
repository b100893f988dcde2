// SPDX-License-Identifier: MIT
// Rotation by size and time, for each sink that can do it.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/os/file.hpp"
#include "sinks/factory.hpp"
#include "sinks/rotation_names.hpp"
#include "tests/sinks/backend_double.hpp"
#include "tests/sinks/rotation_support.hpp"
#include "tests/support/process.hpp"
#include "tests/support/sanitizers.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/time_zone.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using penstock::testing::random_lines;
using penstock::testing::temp_folder;
using penstock::testing::text_of;
using penstock::testing::write_text;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Rotation : public ::testing::TestWithParam<const char*>, protected rotation_testing {
 protected:
  sink_config settings() {
    sink_config made = rotation_testing::settings();
    made.type = GetParam();
    return made;
  }
  std::unique_ptr<sink> make() { return make_sink(settings()); }
};

TEST_P(Rotation, LosesDoublesAndSplitsNothing) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const temp_folder own;
    sink_config one = settings();
    one.path = own / "log";
    one.rotate.size = 8192 + seed * 1000;
    random_lines lines(seed);
    std::string expected;
    std::size_t longest_bytes = 0;
    {
      const auto made = make_sink(one);
      timed_backend backend(*made);
      for (int i = 0; i < 600; ++i) {
        const std::string line = lines.next(seed % 3 == 0 ? 9000 : 300);
        longest_bytes = std::max(longest_bytes, line.size());
        expected += line;
        ASSERT_TRUE(backend.line(line));
        if (lines.now_and_then(10)) {
          ASSERT_TRUE(backend.flush());
        }
      }
      ASSERT_TRUE(backend.flush());
    }
    std::string all;
    for (const fs::path& file : files_of(one.path)) {
      const std::string text = text_of(file);
      ASSERT_FALSE(text.empty()) << file;
      EXPECT_EQ(text.back(), '\n') << file;
      // No more than the limit, or one line that is larger than it.
      EXPECT_TRUE(text.size() <= one.rotate.size || std::count(text.begin(), text.end(), '\n') == 1) << file << ' ' << text.size();
      all += text;
    }
    ASSERT_EQ(all, expected) << "seed " << seed;
    EXPECT_GT(files_of(one.path).size(), 5U);
  }
}

TEST_P(Rotation, FillsAFileToTheByte) {
  const auto made = make();
  timed_backend backend(*made);
  const std::string line = std::string(1023, 'x') + '\n';
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(backend.line_now(line));
  EXPECT_THAT(sizes(), ElementsAre(4096, 4096, 4096));
  ASSERT_TRUE(backend.line_now("y\n"));
  EXPECT_THAT(sizes(), ElementsAre(4096, 4096, 4096, 2));
}

TEST_P(Rotation, WritesALineLargerThanTheLimitWholeAndNoEmptyFiles) {
  const auto made = make();
  timed_backend backend(*made);
  const std::string large = std::string(40'000, 'x') + '\n';
  ASSERT_TRUE(backend.line_now(large));
  ASSERT_TRUE(backend.line_now("small\n"));
  ASSERT_TRUE(backend.line_now(large));
  ASSERT_TRUE(backend.line_now(large));
  EXPECT_THAT(sizes(), ElementsAre(40'001, 6, 40'001, 40'001));
}

TEST_P(Rotation, TakesTheSizeFromTheFileAfterARestart) {
  std::string expected;
  for (int run = 0; run < 5; ++run) {
    const auto made = make();
    timed_backend backend(*made);
    for (int i = 0; i < 30; ++i) {
      const std::string line = "run " + std::to_string(run) + " line " + std::to_string(i) + std::string(90, '.') + '\n';
      expected += line;
      ASSERT_TRUE(backend.line(line));
    }
    ASSERT_TRUE(backend.flush());
  }
  EXPECT_EQ(all_text(), expected);
  for (const std::size_t size : sizes()) EXPECT_LE(size, 4096U);
  EXPECT_THAT(sizes(), SizeIs((expected.size() + 4095) / 4096));
}

TEST_P(Rotation, RotatesAFileAtOnceThatIsOverTheLimitAlready) {
  write_text(path, std::string(9'999, 'o') + '\n');
  const auto made = make();
  ASSERT_TRUE(timed_backend(*made).line_now("new\n"));
  EXPECT_THAT(sizes(), ElementsAre(10'000, 4));
}

TEST_P(Rotation, RotatesAFileThatEndsInsideALineWithoutJoiningLines) {
  write_text(path, std::string(9'999, 'o'));
  const auto made = make();
  timed_backend backend(*made);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(backend.line_now(std::to_string(i) + std::string(3000, '.') + '\n'));
  const std::string all = all_text();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 4);
  EXPECT_EQ(all.substr(0, 10'001), std::string(9'999, 'o') + "\n0");
  EXPECT_THAT(files_of(path), SizeIs(::testing::Ge(3U)));
}

/// Counts the files that are opened while it lives.
class counted_opens {
 public:
  counted_opens() : real_(os::calls()), table_(real_), scope_(table_) {
    current_ = this;
    table_.open = [](const char* name, int flags, mode_t mode) noexcept {
      ++current_->count;
      return current_->real_.open(name, flags, mode);
    };
  }
  int count = 0;

 private:
  const os::system_calls& real_;
  os::system_calls table_;
  os::scoped_system_calls scope_;
  static inline counted_opens* current_ = nullptr;
};

TEST_P(Rotation, OpensTheNextFileOnlyOnce) {
  const auto made = make();
  if (!made->describe().fallback.empty()) GTEST_SKIP() << "SKIPPED: " << made->describe().fallback;
  timed_backend backend(*made);
  ASSERT_TRUE(backend.line_now(std::string(4000, 'x') + '\n'));
  const counted_opens opened;
  for (int i = 1; i <= 5; ++i) {
    ASSERT_TRUE(backend.line_now(std::string(4000, 'x') + '\n'));
    EXPECT_EQ(opened.count, i);
  }
  EXPECT_THAT(files_of(path), SizeIs(6));
}

TEST_P(Rotation, LosesNothingWhereTheFileSystemKnowsNoExchange) {
  os::system_calls table = os::calls();
  table.exchange = [](const char*, const char*) noexcept {
    errno = EINVAL;
    return -1;
  };
  const os::scoped_system_calls scope(table);
  const auto made = make();
  timed_backend backend(*made);
  std::string expected;
  for (int i = 0; i < 5; ++i) {
    const std::string line = std::to_string(i) + std::string(3000, '.') + '\n';
    expected += line;
    ASSERT_TRUE(backend.line_now(line));
  }
  EXPECT_EQ(all_text(), expected);
  EXPECT_THAT(sizes(), ElementsAre(3002, 3002, 3002, 3002, 3002));
}

TEST_P(Rotation, KeepsTheModeOfTheConfiguration) {
  sink_config strict = settings();
  strict.mode = 0600;
  const auto made = make_sink(strict);
  timed_backend backend(*made);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(backend.line_now(std::string(4000, 'x') + '\n'));
  for (const fs::path& file : files_of(path)) {
    struct stat facts {};
    ASSERT_EQ(::stat(file.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U) << file;
  }
}

TEST_P(Rotation, TakesAnotherNameWhereOneIsTaken) {
  for (int second = 1000; second < 1003; ++second) fs::create_directories(path.string() + rotated_name{second, 0}.suffix());
  const auto made = make();
  timed_backend backend(*made);
  backend.now = at(1000);
  ASSERT_TRUE(backend.line_now(std::string(4000, '1') + '\n'));
  ASSERT_TRUE(backend.line_now(std::string(4000, '2') + '\n'));
  EXPECT_EQ(text_of(path.string() + rotated_name{1000, 1}.suffix()).substr(0, 1), "1");
  EXPECT_EQ(text_of(path).substr(0, 1), "2");
}

/// Goes on in the old file while `trouble` is there, says so once, and rotates when it is over.
template <class Trouble>
void expect_the_old_file_goes_on(sink& target, const fs::path& path, int os_error, Trouble trouble) {
  timed_backend backend(target);
  std::string expected;
  const auto put = [&] {
    const std::string line = std::to_string(expected.size()) + std::string(3000, '.') + '\n';
    expected += line;
    return backend.line_now(line);
  };
  ASSERT_TRUE(put());
  trouble(true);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(put());
  EXPECT_EQ(target.maintain(), (outcome{errc::io, os_error}));
  EXPECT_TRUE(target.maintain().ok()) << "one trouble is told once";
  trouble(false);
  EXPECT_EQ(text_of(path), expected);
  EXPECT_THAT(files_of(path), SizeIs(1));
  // Tried again a second after it failed.
  EXPECT_TRUE(penstock::testing::eventually([&] { return !put() || files_of(path).size() != 1; }, 20ms));
  EXPECT_THAT(files_of(path), SizeIs(2));
  std::string all;
  for (const fs::path& each : files_of(path)) all += text_of(each);
  EXPECT_EQ(all, expected);
}

TEST_P(Rotation, KeepsTheOldFileInUseWhenNoNewOneCanBeMade) {
  if (!make_immutable(folder.path(), true)) GTEST_SKIP() << "SKIPPED: chattr +i needs root and ext4";
  make_immutable(folder.path(), false);
  const auto made = make();
  expect_the_old_file_goes_on(*made, path, EPERM, [this](bool on) { ASSERT_TRUE(make_immutable(folder.path(), on)); });
}

TEST_P(Rotation, KeepsTheOldFileInUseWhenTheProcessHasTooManyFiles) {
  const auto made = make();
  // Not by RLIMIT_NOFILE: UBSan needs a pipe to look at an object.
  os::system_calls table = os::calls();
  table.open = [](const char*, int, mode_t) noexcept {
    errno = EMFILE;
    return -1;
  };
  std::optional<os::scoped_system_calls> scope;
  expect_the_old_file_goes_on(*made, path, EMFILE, [&](bool on) {
    if (on)
      scope.emplace(table);
    else
      scope.reset();
  });
}

TEST_P(Rotation, BeginsANewFileWithTheFirstLineOfAnotherDay) {
  const penstock::testing::time_zone zone("UTC0");
  sink_config daily = settings();
  daily.rotate = {.every = rotate_period::day};
  const auto made = make_sink(daily);
  timed_backend backend(*made);
  const auto turn = at(1'796'083'200);  // 2026-12-01 00:00 UTC
  backend.now = turn - 2s;
  ASSERT_TRUE(backend.line("one\n"));
  backend.now = turn - 1ns;
  ASSERT_TRUE(backend.line("two\n"));
  backend.now = turn;
  ASSERT_TRUE(backend.line("three\n"));
  backend.now = turn + 5h;
  ASSERT_TRUE(backend.line("four\n"));
  backend.now = turn + 72h;
  ASSERT_TRUE(backend.line("five\n"));
  ASSERT_TRUE(backend.flush());
  EXPECT_THAT(texts(), ElementsAre("one\ntwo\n", "three\nfour\n", "five\n"));
}

TEST_P(Rotation, CountsAFileOfAnEarlierRunToThePeriodInWhichItWasWrittenLast) {
  sink_config daily = settings();
  daily.rotate = {.every = rotate_period::day};
  // Each at noon, so that no midnight comes between two lines of one day; the kernel's own times of the file would have one in it some day.
  const penstock::testing::time_zone zone("UTC0");
  const auto noon = at(1'796'083'200 + 12 * 3600);
  const auto put_at = [&](std::chrono::system_clock::time_point now, std::string_view line) {
    {
      const auto made = make_sink(daily);
      timed_backend backend(*made);
      backend.now = now;
      ASSERT_TRUE(backend.line_now(line));
    }
    const time_t second = std::chrono::system_clock::to_time_t(now);
    const std::array<timespec, 2> both{{{.tv_sec = second, .tv_nsec = 0}, {.tv_sec = second, .tv_nsec = 0}}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), both.data(), 0), 0);
  };
  put_at(noon - 48h, "old\n");
  put_at(noon, "today\n");
  put_at(noon, "again\n");
  EXPECT_THAT(texts(), ElementsAre("old\n", "today\nagain\n"));
}

TEST_P(Rotation, FollowsAFileThatLogrotateMovedAndCountsAnew) {
  const auto made = make();
  timed_backend backend(*made);
  ASSERT_TRUE(backend.line_now(std::string(3000, '1') + '\n'));
  fs::rename(path, folder / "log.moved");
  ASSERT_TRUE(made->maintain().ok());
  ASSERT_TRUE(backend.line_now(std::string(3000, '2') + '\n'));
  EXPECT_THAT(sizes(), ElementsAre(3001));
  ASSERT_TRUE(backend.line_now(std::string(3000, '3') + '\n'));
  EXPECT_THAT(sizes(), ElementsAre(3001, 3001));
  EXPECT_EQ(text_of(folder / "log.moved").size(), 3001U);
}

TEST_P(Rotation, LeavesAMovedFileWhereItIsWhenItIsFull) {
  const auto made = make();
  timed_backend backend(*made);
  ASSERT_TRUE(backend.line_now(std::string(4000, '1') + '\n'));
  fs::rename(path, folder / "log.moved");
  write_text(path, "somebody else's\n");
  ASSERT_TRUE(backend.line_now(std::string(4000, '2') + '\n'));
  ASSERT_TRUE(backend.line_now(std::string(4000, '3') + '\n'));
  EXPECT_EQ(text_of(folder / "log.moved"), std::string(4000, '1') + '\n');
  EXPECT_EQ(all_text(), "somebody else's\n" + std::string(4000, '2') + '\n' + std::string(4000, '3') + '\n');
}

TEST_P(Rotation, CountsAnewWhenTheFileWasCutOff) {
  const auto made = make();
  timed_backend backend(*made);
  ASSERT_TRUE(backend.line_now(std::string(4000, '1') + '\n'));
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  ASSERT_TRUE(backend.line_now(std::string(3000, '2') + '\n'));
  ASSERT_TRUE(backend.line_now(std::string(1000, '3') + '\n'));
  EXPECT_EQ(all_text(), std::string(3000, '2') + '\n' + std::string(1000, '3') + '\n');
  EXPECT_THAT(files_of(path), SizeIs(1));
}

TEST_P(Rotation, BringsClosedFilesToTheMediumToo) {
  const auto made = make();
  timed_backend backend(*made);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(backend.line_now(std::string(4000, 'x') + '\n'));
    if (i % 30 != 0) continue;
    outcome result = made->sync();
    while (result.code == errc::pending) result = made->sync();
    EXPECT_TRUE(result.ok());
  }
}

TEST_P(Rotation, RefusesWhatIsNoRegularFile) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const os::descriptor reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK));
  EXPECT_ANY_THROW(make());
}

TEST_P(Rotation, RotatesTheFileBehindALinkThatItMayFollow) {
  sink_config linked = settings();
  linked.follow_symlinks = true;
  fs::create_directory(folder / "real");
  fs::create_symlink("real/file", path);  // which does not exist yet
  const auto made = make_sink(linked);
  timed_backend backend(*made);
  ASSERT_TRUE(backend.line_now(std::string(4000, '1') + '\n'));
  ASSERT_TRUE(backend.line_now(std::string(4000, '2') + '\n'));
  EXPECT_TRUE(fs::is_symlink(path));
  EXPECT_THAT(files_of(folder / "real/file"), SizeIs(2));
  EXPECT_EQ(text_of(path).substr(0, 1), "2");
}

TEST_P(Rotation, TakesSingleLinesAfterItsEnd) {
  const auto made = make();
  ASSERT_TRUE(timed_backend(*made).line_now("before\n"));
  const auto retired = made->retire();
  ASSERT_NE(retired, nullptr);
  ASSERT_TRUE(timed_backend(*retired).line_now("after\n"));
  EXPECT_EQ(all_text(), "before\nafter\n");
}

TEST_P(Rotation, IsForgottenByAForkedChild) {
  if (penstock::testing::under_tsan) GTEST_SKIP() << "SKIPPED: " << penstock::testing::tsan_and_forks;
  auto made = make();
  timed_backend backend(*made);
  ASSERT_TRUE(backend.line_now(std::string(3000, '1') + '\n'));
  EXPECT_EQ(penstock::testing::status_of_child([&] {
              made->disown_after_fork();
              sink_config own = settings();
              own.path += ".child";
              const auto child = make_sink(own);
              timed_backend writer(*child);
              for (int i = 0; i < 3; ++i)
                if (!writer.line_now(std::string(4000, 'c') + '\n')) return 1;
              return 0;
            }),
            0);
  ASSERT_TRUE(backend.line_now(std::string(3000, '2') + '\n'));
  EXPECT_THAT(sizes(), ElementsAre(3001, 3001));
  EXPECT_THAT(files_of(path.string() + ".child"), SizeIs(3));
}

class RotationPastTheCache : public ::testing::TestWithParam<std::pair<const char*, page_cache_policy>>, protected rotation_testing {};

TEST_P(RotationPastTheCache, LosesNothing) {
  sink_config one = settings();
  one.type = GetParam().first;
  one.page_cache = GetParam().second;
  one.rotate.size = 30'000;
  random_lines lines(3);
  std::string expected;
  const auto made = make_sink(one);
  timed_backend backend(*made);
  for (int i = 0; i < 2000; ++i) {
    const std::string line = lines.next(300);
    expected += line;
    ASSERT_TRUE(backend.line(line));
    if (lines.now_and_then(20)) {
      ASSERT_TRUE(backend.flush());
    }
  }
  ASSERT_TRUE(backend.flush());
  EXPECT_EQ(all_text(), expected);
  for (const std::size_t size : sizes()) EXPECT_LE(size, 30'000U);
}

INSTANTIATE_TEST_SUITE_P(, RotationPastTheCache,
                         ::testing::Values(std::pair{"write", page_cache_policy::drop}, std::pair{"pwrite", page_cache_policy::drop},
                                           std::pair{"pwrite", page_cache_policy::direct}, std::pair{"io_uring", page_cache_policy::drop},
                                           std::pair{"io_uring", page_cache_policy::direct}),
                         [](const auto& each) {
                           return std::string(each.param.first) + (each.param.second == page_cache_policy::drop ? "_drop" : "_direct");
                         });

INSTANTIATE_TEST_SUITE_P(, Rotation, ::testing::Values("write", "pwrite", "stdio", "io_uring"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace penstock::sinks
