// SPDX-License-Identifier: MIT
// What becomes of closed files: keep, max_age, max_total, zstd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/os/file.hpp"
#include "sinks/factory.hpp"
#include "sinks/rotation_helper.hpp"
#include "tests/sinks/rotation_support.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using penstock::testing::eventually;
using penstock::testing::text_of;
using penstock::testing::write_text;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::string unpacked(const fs::path& file) {
  const std::string packed = text_of(file);
  std::string text(static_cast<std::size_t>(ZSTD_getFrameContentSize(packed.data(), packed.size())), '\0');
  const std::size_t bytes = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
  return ZSTD_isError(bytes) != 0 ? "not a whole frame" : text;
}

class ClosedFile : public ::testing::Test, protected rotation_testing {
 protected:
  /// A closed file of that second.
  fs::path add(std::int64_t second, std::size_t bytes, std::string_view suffix = "") {
    fs::path file = path.string() + rotated_name{second, 0}.suffix() + std::string(suffix);
    write_text(file, std::string(bytes, 'x'));
    return file;
  }
  std::vector<std::int64_t> seconds() {
    std::vector<std::int64_t> left;
    for (const closed_file& each : list_closed_files(folder.path(), "log")) left.push_back(each.parsed.name.second);
    return left;
  }
  int retain(rotate_config rules, std::int64_t now = 1000) {
    closed_files files;
    files.folder = folder.path();
    files.base = "log";
    files.rules = rules;
    return apply_retention(files, at(now));
  }
  compressed compress(int* os_error = nullptr) {
    closed_files files;
    files.folder = folder.path();
    files.base = "log";
    int error = 0;
    const compressed result = compress_one(
        files, [](void*) { return false; }, nullptr, error);
    if (os_error != nullptr) *os_error = error;
    return result;
  }
};

TEST_F(ClosedFile, IsRemovedBeyondTheCountOldestFirst) {
  for (const int second : {100, 200, 300, 400}) add(second, 10);
  EXPECT_EQ(retain({.size = 4096, .keep = 3}), 0);
  EXPECT_THAT(seconds(), ElementsAre(200, 300, 400));
}

TEST_F(ClosedFile, IsRemovedOnceItIsOlderThanTheMaximum) {
  for (const int second : {100, 200, 300, 400}) add(second, 10, second == 200 ? ".zst" : "");
  EXPECT_EQ(retain({.size = 4096, .max_age = 200s}, 450), 0);
  EXPECT_THAT(seconds(), ElementsAre(300, 400));
}

TEST_F(ClosedFile, IsRemovedBeyondTheBytesOfAllOldestFirst) {
  for (const int second : {100, 200, 300, 400}) add(second, 100);
  EXPECT_EQ(retain({.size = 4096, .max_total = 299}), 0);
  EXPECT_THAT(seconds(), ElementsAre(300, 400));
}

TEST_F(ClosedFile, StaysWithoutARule) {
  for (const int second : {100, 200, 300, 400}) add(second, 100);
  EXPECT_EQ(retain({.size = 4096}), 0);
  EXPECT_THAT(seconds(), SizeIs(4));
}

TEST_F(ClosedFile, CountsOnceIfAKilledCompressionLeftItTwice) {
  add(100, 10);
  add(200, 10);
  add(200, 5, ".zst");
  EXPECT_EQ(retain({.size = 4096, .keep = 2}), 0);
  EXPECT_THAT(seconds(), ElementsAre(100, 200, 200));
}

TEST_F(ClosedFile, IsAllThatRetentionTouches) {
  const std::vector<std::string> neighbours{"log.bak", "log.1.gz", "application.log", "log.20260101", "other.19700101T000140Z-0000"};
  for (const std::string& each : neighbours) write_text(folder / each, "mine");
  write_text(folder / "victim", "mine");
  fs::create_symlink(folder / "victim", path.string() + rotated_name{1, 0}.suffix());
  fs::create_directory(path.string() + rotated_name{2, 0}.suffix());
  for (const int second : {100, 200, 300}) add(second, 10);
  EXPECT_EQ(retain({.size = 4096, .keep = 1, .max_age = 1s, .max_total = 1}, 10'000), 0);
  EXPECT_THAT(seconds(), IsEmpty());
  for (const std::string& each : neighbours) EXPECT_EQ(text_of(folder / each), "mine") << each;
  EXPECT_EQ(text_of(folder / "victim"), "mine");
  EXPECT_TRUE(fs::is_symlink(path.string() + rotated_name{1, 0}.suffix()));
  EXPECT_TRUE(fs::is_directory(path.string() + rotated_name{2, 0}.suffix()));
}

TEST_F(ClosedFile, TellsWhyItCouldNotBeRemoved) {
  const fs::path file = add(100, 10);
  add(200, 10);
  if (!make_immutable(file, true)) GTEST_SKIP() << "SKIPPED: chattr +i needs root and ext4";
  EXPECT_EQ(retain({.size = 4096, .keep = 1}), EPERM);
  EXPECT_TRUE(make_immutable(file, false));
}

TEST_F(ClosedFile, IsCompressedOldestFirstWithItsMode) {
  add(200, 100'000);
  const fs::path first = add(100, 3'000'000);
  ASSERT_EQ(::chmod(first.c_str(), 0604), 0);
  ASSERT_EQ(compress(), compressed::one);
  EXPECT_FALSE(fs::exists(first));
  EXPECT_EQ(unpacked(first.string() + ".zst"), std::string(3'000'000, 'x'));
  struct stat facts {};
  ASSERT_EQ(::stat((first.string() + ".zst").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777U, 0604U);
  EXPECT_EQ(compress(), compressed::one);
  EXPECT_EQ(compress(), compressed::none_left);
}

TEST_F(ClosedFile, IsNotCompressedWhileSomebodyWritesToIt) {
  const fs::path file = add(100, 10);
  os::descriptor writer(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(writer.get(), LOCK_SH), 0);
  EXPECT_EQ(compress(), compressed::locked);
  EXPECT_EQ(text_of(file).size(), 10U);
  writer.reset();
  EXPECT_EQ(compress(), compressed::one);
}

TEST_F(ClosedFile, StaysIfItCannotBeCompressed) {
  const fs::path file = add(100, 10);
  fs::create_directory(file.string() + ".zst");
  int os_error = 0;
  EXPECT_EQ(compress(&os_error), compressed::failed);
  EXPECT_EQ(os_error, EISDIR);
  EXPECT_EQ(text_of(file).size(), 10U);
  EXPECT_FALSE(fs::exists(file.string() + ".zst.tmp"));
}

TEST_F(ClosedFile, DoesNotKeepOthersFromBeingCompressedIfItCannotBe) {
  const fs::path bad = add(100, 10);
  fs::create_directory(bad.string() + ".zst");
  const fs::path good = add(200, 10);
  EXPECT_EQ(compress(), compressed::one);
  EXPECT_TRUE(fs::exists(good.string() + ".zst"));
  EXPECT_EQ(compress(), compressed::failed);
}

TEST_F(ClosedFile, IsLeftAsItIsWhenCompressionIsToStop) {
  const fs::path file = add(100, 10'000'000);
  closed_files files;
  files.folder = folder.path();
  files.base = "log";
  int os_error = 0;
  int count = 0;
  EXPECT_EQ(compress_one(
                files, [](void* asked) { return ++*static_cast<int*>(asked) > 3; }, &count, os_error),
            compressed::interrupted);
  EXPECT_EQ(text_of(file).size(), 10'000'000U);
  EXPECT_FALSE(fs::exists(file.string() + ".zst.tmp"));
}

TEST_F(ClosedFile, OfAnEarlierRunIsLookedAfterToo) {
  const fs::path half = add(50, 10, ".zst.tmp");
  const fs::path unused = add(60, 0);
  add(100, 10);
  const fs::path plain = add(200, 5000);
  sink_config settings = rotation_testing::settings();
  settings.type = "pwrite";
  settings.rotate.keep = 1;
  settings.rotate.compress = compression::zstd;
  const auto made = make_sink(settings);
  EXPECT_TRUE(eventually([&] { return fs::exists(plain.string() + ".zst") && !fs::exists(plain); }));
  EXPECT_FALSE(fs::exists(half));
  EXPECT_FALSE(fs::exists(unused));
  EXPECT_THAT(seconds(), ElementsAre(200));
}

TEST_F(ClosedFile, ThatIsEmptyIsLeftToAnotherProcessWhichMayHaveReservedItJustNow) {
  const fs::path unused = add(60, 0);
  const auto shared = make_sink(rotation_testing::settings());
  EXPECT_TRUE(fs::exists(unused));
  EXPECT_EQ(retain({.size = 4096, .max_age = 1s}), 0);
  EXPECT_TRUE(fs::exists(unused));
}

TEST_F(ClosedFile, IsKeptByCountOverRestarts) {
  write_text(folder / "log.bak", "mine");
  sink_config settings = rotation_testing::settings();
  settings.rotate.keep = 3;
  for (int run = 0; run < 10; ++run) {
    const auto made = make_sink(settings);
    timed_backend backend(*made);
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(backend.line_now(std::string(4000, static_cast<char>('0' + run)) + '\n'));
  }
  EXPECT_THAT(files_of(path), SizeIs(4));
  EXPECT_EQ(all_text().find_first_not_of("89\n"), std::string::npos) << "the newest are kept";
  EXPECT_EQ(text_of(folder / "log.bak"), "mine");
}

TEST_F(ClosedFile, IsCompressedWhileTheLogGoesOnConcurrently) {
  sink_config settings = rotation_testing::settings();
  settings.rotate.compress = compression::zstd;
  std::string expected;
  const auto made = make_sink(settings);
  timed_backend backend(*made);
  for (int i = 0; i < 200; ++i) {
    const std::string line = std::to_string(i) + std::string(1000, '.') + '\n';
    expected += line;
    ASSERT_TRUE(backend.line_now(line));
  }
  EXPECT_TRUE(eventually([&] {
    for (const closed_file& each : list_closed_files(folder.path(), "log"))
      if (each.parsed.is != parsed_name::form::compressed) return false;
    return true;
  }));
  std::string all;
  for (const fs::path& file : files_of(path)) all += file.extension() == ".zst" ? unpacked(file) : text_of(file);
  EXPECT_EQ(all, expected);
}

TEST_F(ClosedFile, IsWholeWheneverTheProcessIsKilled) {
  sink_config settings = rotation_testing::settings();
  settings.type = "pwrite";
  settings.rotate.compress = compression::zstd;
  std::size_t count = 0;  // of lines that are in the files
  for (std::size_t round = 1; round <= 6; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto made = make_sink(settings);
      timed_backend backend(*made);
      for (std::size_t n = count; backend.line_now(std::to_string(n) + ' ' + std::string(700, '.') + '\n');) ++n;
      ::_exit(1);
    }
    const std::size_t enough = files_of(path).size() + 7 * round;
    EXPECT_TRUE(eventually([&] { return files_of(path).size() > enough; }));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);

    count = 0;
    for (const fs::path& file : files_of(path)) {
      if (file.extension() == ".tmp" || fs::exists(file.string() + ".zst")) continue;  // unfinished, or there twice
      const std::string text = file.extension() == ".zst" ? unpacked(file) : text_of(file);
      for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
        ASSERT_EQ(text.substr(begin, text.find(' ', begin) - begin), std::to_string(count++)) << file;
    }
  }
}

TEST_F(ClosedFile, OfTwoSinksOnOneFileLosesNothing) {
  // As two processes do it: each notices within a second, here by maintain(), that the other one rotated.
  sink_config settings = rotation_testing::settings();
  settings.rotate.compress = compression::zstd;
  std::vector<std::string> expected;
  const auto one = make_sink(settings);
  const auto two = make_sink(settings);
  timed_backend first(*one);
  timed_backend second(*two);
  for (int i = 0; i < 300; ++i) {
    expected.push_back(std::to_string(i) + std::string(500, '.'));
    ASSERT_TRUE((i % 2 == 0 ? first : second).line_now(expected.back() + '\n'));
    if (i % 17 == 0) {
      ASSERT_TRUE(one->maintain().ok());
    }
    if (i % 23 == 0) {
      ASSERT_TRUE(two->maintain().ok());
    }
  }
  ASSERT_TRUE(one->maintain().ok());
  ASSERT_TRUE(two->maintain().ok());
  EXPECT_TRUE(eventually([&] {
    for (const closed_file& each : list_closed_files(folder.path(), "log"))
      if (each.parsed.is != parsed_name::form::compressed) return false;
    return true;
  }));
  std::string all;
  for (const fs::path& file : files_of(path)) all += file.extension() == ".zst" ? unpacked(file) : text_of(file);
  std::vector<std::string> lines;
  for (std::size_t begin = 0, end = 0; (end = all.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(all.substr(begin, end - begin));
  std::sort(lines.begin(), lines.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(lines, expected);
}

}  // namespace
}  // namespace penstock::sinks
