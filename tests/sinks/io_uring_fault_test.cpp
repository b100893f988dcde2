// SPDX-License-Identifier: MIT
// A full disk, and what is left in the file when something is given up. The limit on the file's size gives the same answers as a full disk,
// at any odd byte; the kernel's workers obey it too.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <tuple>

#include "sinks/uring.hpp"
#include "tests/sinks/io_uring_driver.hpp"
#include "tests/support/process.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using penstock::testing::file_size_limit;
using penstock::testing::io_uring_driver;
using penstock::testing::temp_folder;
using penstock::testing::text_of;
using penstock::testing::write_text;

class IoUringFault : public ::testing::TestWithParam<std::tuple<unsigned, page_cache_policy>> {
 protected:
  void SetUp() override {
    if (const std::string reason = penstock::testing::io_uring_refusal(); !reason.empty())
      GTEST_SKIP() << "io_uring cannot be used here: " << reason;
  }
  std::unique_ptr<sink> make() {
    sink_config settings;
    settings.type = "io_uring";
    settings.path = path;
    settings.batch_size = 8192;
    settings.strict = true;
    std::tie(settings.queue_depth, settings.page_cache) = GetParam();
    return make_io_uring_sink(settings);
  }
  void cut_off_behind(outcome wrong);

  temp_folder folder;
  fs::path path = folder / "log";
};

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "line " + std::to_string(i) + " of a text that comes to a full disk\n";
  return text;
}

/// The error may come only when all is handed over.
outcome offer(io_uring_driver& driver, const std::string& text) {
  const outcome result = driver.text(text);
  return result.ok() ? driver.flush() : result;
}

outcome flush_until_known(sink& target) {
  outcome result;
  do result = target.flush();
  while (result.code == errc::pending);
  return result;
}

/// What comes of trying again; a slow answer comes after resume().
outcome resume_until_known(sink& target) {
  const outcome result = target.resume();
  return result.ok() ? flush_until_known(target) : result;
}

TEST_P(IoUringFault, GoesOnFromTheNextByteWhenThereIsSpaceAgain) {
  const std::string text = numbered_lines(2000);
  for (const rlim_t limit : {1U, 4095U, 8192U, 12'345U, 30'001U}) {
    fs::remove(path);
    const auto made = make();
    io_uring_driver driver(*made);
    {
      const file_size_limit full(limit);
      const outcome result = offer(driver, text);
      ASSERT_EQ(result.code, errc::no_space) << "limit " << limit;
      EXPECT_EQ(result.os_error, EFBIG);
      EXPECT_TRUE(made->lend({}).room.empty()) << "nothing is lent while something is held";
      EXPECT_EQ(made->flush().code, errc::no_space);
      EXPECT_EQ(resume_until_known(*made).code, errc::no_space);
      EXPECT_EQ(text_of(path), text.substr(0, limit)) << "the text up to the limit, without a hole behind";
      EXPECT_EQ(driver.submitted_bytes() - made->in_flight_bytes(), limit);
    }
    ASSERT_TRUE(made->resume().ok()) << "limit " << limit;
    ASSERT_TRUE(driver.go_on().ok());
    ASSERT_TRUE(driver.flush().ok());
    EXPECT_EQ(text_of(path), text) << "limit " << limit;
  }
}

TEST_P(IoUringFault, LeavesNoHoleWhereSomethingWasGivenUp) {
  const std::string text = numbered_lines(2000);
  const auto made = make();
  io_uring_driver driver(*made);
  std::size_t lost_bytes = 0;
  {
    const file_size_limit full(10'007);
    ASSERT_EQ(offer(driver, text).code, errc::no_space);
    lost_bytes = made->abandon();
    EXPECT_EQ(lost_bytes, driver.submitted_bytes() - 10'007);
    EXPECT_EQ(made->in_flight_bytes(), 0U);
    EXPECT_TRUE(made->flush().ok());
    EXPECT_EQ(made->abandon(), 0U) << "given up once";
    EXPECT_EQ(fs::file_size(path), 10'007U);
  }
  ASSERT_FALSE(made->lend({}).room.empty()) << "it lends again";
  const std::size_t given_up_to = driver.submitted_bytes();
  ASSERT_TRUE(driver.go_on().ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_EQ(text_of(path), text.substr(0, 10'007) + "\n" + text.substr(given_up_to)) << "the cut line is ended, the rest follows";
}

TEST_P(IoUringFault, EndsTheCutLineAlsoWhenABatchWasBeingFilledMeanwhile) {
  const auto made = make();
  const auto put = [&](std::string_view text) {
    const batch lent = made->lend({});
    ASSERT_GE(lent.room.size(), text.size());
    std::memcpy(lent.room.data(), text.data(), text.size());
  };
  {
    const file_size_limit full(5);
    put("0123456789\n");
    static_cast<void>(made->submit(11));
    // Most often lent before the error is known; with one batch, or if the error came at once, not at all.
    static_cast<void>(made->lend({}));
    ASSERT_EQ(flush_until_known(*made).code, errc::no_space);
    EXPECT_EQ(made->abandon(), 6U);
  }
  put("next\n");
  ASSERT_TRUE(made->submit(5).ok());
  EXPECT_TRUE(flush_until_known(*made).ok());
  EXPECT_EQ(text_of(path), "01234\nnext\n");
}

TEST_P(IoUringFault, TakesWhatIsHeldToANewFile) {
  const std::string text = numbered_lines(400);
  const auto made = make();
  io_uring_driver driver(*made);
  {
    const file_size_limit full(10'000);
    ASSERT_EQ(offer(driver, text).code, errc::no_space);
    fs::rename(path, folder / "old");
    EXPECT_TRUE(made->reopen().ok());
  }
  ASSERT_TRUE(made->resume().ok());
  ASSERT_TRUE(driver.go_on().ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_EQ(text_of(folder / "old"), text.substr(0, 10'000));
  const std::string now = text_of(path);
  ASSERT_LE(now.size(), text.size());
  EXPECT_EQ(now, text.substr(text.size() - now.size())) << "nothing is missing at the end";
  EXPECT_GE(now.size() + 10'000, text.size()) << "nothing is missing in the middle";
}

TEST_P(IoUringFault, KeepsWhatIsWrittenWhenItEndsWhileSomethingIsHeld) {
  const std::string text = numbered_lines(400);
  {
    auto made = make();
    io_uring_driver driver(*made);
    const file_size_limit full(9'999);
    ASSERT_EQ(offer(driver, text).code, errc::no_space);
    made.reset();
  }
  EXPECT_EQ(text_of(path), text.substr(0, 9'999));
}

/// Changes what the ring says of writes, by a script: one entry for each result, 0 leaves it, n > 0 says that only n bytes were written.
/// Other requests have tags beyond those of batches.
class changed_results {
 public:
  explicit changed_results(std::deque<int> script) {
    script_ = std::move(script);
    uring::change_results([](std::uint64_t tag, int result) noexcept {
      if (script_.empty() || tag > 1000) return result;
      const int now = script_.front();
      script_.pop_front();
      return now == 0 || (now > 0 && result <= now) ? result : now;
    });
  }
  ~changed_results() { uring::change_results(nullptr); }
  changed_results(const changed_results&) = delete;
  changed_results& operator=(const changed_results&) = delete;

 private:
  static inline std::deque<int> script_;
};

void IoUringFault::cut_off_behind(outcome wrong) {
  fs::remove(path);
  const std::string text = numbered_lines(3000);
  const auto made = make();
  io_uring_driver driver(*made);
  {
    const changed_results changed({0, 5000, -wrong.os_error});
    ASSERT_EQ(offer(driver, text).code, wrong.code);
    ASSERT_EQ(flush_until_known(*made), wrong);
  }
  // The file is cut off as soon as the kernel has nothing more on its way.
  const auto written_bytes = [&] { return driver.submitted_bytes() - static_cast<std::size_t>(made->in_flight_bytes()); };
  EXPECT_TRUE(penstock::testing::eventually([&] {
    static_cast<void>(made->flush());
    return fs::file_size(path) == written_bytes();
  }));
  EXPECT_EQ(text_of(path), text.substr(0, written_bytes()));
  ASSERT_TRUE(made->resume().ok());
  ASSERT_TRUE(driver.go_on().ok());
  ASSERT_TRUE(driver.flush().ok());
  EXPECT_EQ(text_of(path), text);
}

TEST_P(IoUringFault, CutsOffWhatLandedBehindAFailedBatch) {
  for (const outcome wrong : {outcome{errc::io, EIO}, outcome{errc::io, ENXIO}, outcome{errc::io, ENODEV}, outcome{errc::io, EROFS},
                              outcome{errc::no_space, EDQUOT}})
    cut_off_behind(wrong);
}

TEST_P(IoUringFault, WritesTheSameBytesWhateverShortCountsAndPassingErrorsThereAre) {
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    std::deque<int> script;
    for (int i = 0; i < 400; ++i) {
      constexpr int passing[] = {-EAGAIN, -EINTR, -ECANCELED};
      const unsigned kind = random() % 4;
      script.push_back(kind == 0 ? 0 : kind == 1 ? passing[random() % 3] : 1 + static_cast<int>(random() % 9000));
    }
    fs::remove(path);
    const std::string text = numbered_lines(4000);
    {
      const auto made = make();
      const changed_results changed(std::move(script));
      io_uring_driver driver(*made);
      ASSERT_TRUE(driver.text(text).ok()) << "seed " << seed;
      ASSERT_TRUE(driver.flush().ok());
    }
    ASSERT_EQ(text_of(path), text) << "seed " << seed;
  }
}

/// In a process with mounts of its own: fills a disk of 1 MiB, and makes room again.
int fill_a_small_disk(const fs::path& mount_point, sink_config settings) {
  if (::unshare(CLONE_NEWNS) != 0) return 77;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return 77;
  if (::mount("tmpfs", mount_point.c_str(), "tmpfs", 0, "size=1m") != 0) return 77;
  const std::string text = numbered_lines(15'000);
  write_text(mount_point / "hog", std::string(400'000, 'h'));
  settings.path = mount_point / "log";
  const auto made = make_io_uring_sink(settings);
  io_uring_driver driver(*made);
  const outcome result = offer(driver, text);
  if (result.code != errc::no_space || result.os_error != ENOSPC) return 1;
  if (resume_until_known(*made).code != errc::no_space) return 2;
  const std::string half = text_of(settings.path);
  if (half.empty() || text.compare(0, half.size(), half) != 0) return 3;
  fs::remove(mount_point / "hog");
  if (!made->resume().ok()) return 4;
  if (!driver.go_on().ok() || !driver.flush().ok()) return 5;
  return text_of(settings.path) == text ? 0 : 6;
}

TEST_P(IoUringFault, FillsADiskToItsEndAndGoesOnWhenThereIsSpaceAgain) {
  fs::create_directory(folder / "disk");
  sink_config settings;
  settings.type = "io_uring";
  settings.batch_size = 65536;
  std::tie(settings.queue_depth, settings.page_cache) = GetParam();
  const int status = penstock::testing::status_of_child([&] { return fill_a_small_disk(folder / "disk", settings); });
  if (status == 77) GTEST_SKIP() << "mounts need root here";
  EXPECT_EQ(status, 0);
}

std::string name_of_variant(const ::testing::TestParamInfo<std::tuple<unsigned, page_cache_policy>>& one) {
  constexpr const char* names[] = {"Keep", "Drop", "Direct"};
  return "Depth" + std::to_string(std::get<0>(one.param)) + names[static_cast<int>(std::get<1>(one.param))];
}

INSTANTIATE_TEST_SUITE_P(Depths, IoUringFault,
                         ::testing::Combine(::testing::Values(1U, 2U, 4U),
                                            ::testing::Values(page_cache_policy::keep, page_cache_policy::drop, page_cache_policy::direct)),
                         name_of_variant);

}  // namespace
}  // namespace penstock::sinks
