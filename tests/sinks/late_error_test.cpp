// SPDX-License-Identifier: MIT
// A disk that takes every write and fails when the kernel brings it to the medium: a thin image on a tmpfs that is too small for it. The
// kernel tells that once; the next sync succeeds, whatever became of the bytes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lib/os/pages.hpp"
#include "sinks/factory.hpp"
#include "tests/sinks/io_uring_driver.hpp"
#include "tests/sinks/ring_support.hpp"
#include "tests/support/loop_disk.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::sinks {
namespace {

using penstock::testing::io_uring_driver;
using penstock::testing::io_uring_refusal;
using penstock::testing::loop_disk;
using penstock::testing::refusal_of;
using penstock::testing::temp_folder;
using penstock::testing::text_of;
using ::testing::HasSubstr;

constexpr std::size_t mebibyte = std::size_t{1} << 20;
// Source: a 64 MiB ext4 without a journal needs less than 1 MiB of it for itself.
constexpr loop_disk::sizes thin{.disk_bytes = 64 * mebibyte, .backing_bytes = 6 * mebibyte};

/// `bytes` of numbered lines, brought to the kernel and added to `expected`. Ok if no call failed.
outcome put(io_uring_driver& backend, std::string& expected, std::size_t bytes) {
  const std::size_t end = expected.size() + bytes;
  while (expected.size() < end) {
    const std::string line = std::to_string(expected.size()) + std::string(200, '.') + '\n';
    if (const outcome result = backend.text(line); !result.ok()) return result;
    expected += line;
  }
  return backend.flush();
}

struct variant {
  const char* type;
  page_cache_policy page_cache = page_cache_policy::keep;
};
void PrintTo(const variant& of, std::ostream* out) { *out << of.type; }

class LateError : public ::testing::TestWithParam<variant> {
 protected:
  std::unique_ptr<sink> make(const loop_disk& disk) const {
    sink_config made;
    made.type = GetParam().type;
    made.page_cache = GetParam().page_cache;
    made.path = disk / "log";
    made.batch_size = 256 << 10;
    made.strict = true;
    return make_sink(made);
  }
  bool needs_io_uring() const { return std::string_view(GetParam().type) == "io_uring"; }

  temp_folder folder;
};

TEST_P(LateError, IsToldByTheSyncThatMeetsItAndWhatComesLaterIsSafe) {
  if (needs_io_uring() && !io_uring_refusal().empty()) GTEST_SKIP() << "SKIPPED: " << io_uring_refusal();
  loop_disk disk(folder.path(), thin);
  if (!disk.refused().empty()) GTEST_SKIP() << disk.refused();
  auto made = make(disk);
  io_uring_driver backend(*made);
  std::string expected;
  ASSERT_TRUE(put(backend, expected, 8 * mebibyte).ok()) << "the disk says that it has room";
  const outcome failed = backend.sync();
  EXPECT_EQ(failed.code, errc::io);
  EXPECT_TRUE(failed.os_error == ENOSPC || failed.os_error == EIO) << failed.os_error;
  ASSERT_TRUE(disk.grow_backing(64 * mebibyte));
  EXPECT_TRUE(backend.sync().ok()) << "a failure is told once";

  const std::size_t before_bytes = expected.size();
  ASSERT_TRUE(put(backend, expected, mebibyte).ok());
  EXPECT_TRUE(backend.sync().ok());
  made.reset();
  ASSERT_TRUE(disk.reattach()) << disk.refused();
  const std::string found = text_of(disk / "log");
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_NE(found.substr(0, before_bytes), expected.substr(0, before_bytes)) << "what failed was lost, or this test shows nothing";
  // The page that the first of these lines share with the last that were lost may be lost as well: seen on ext4, Linux 6.18.
  const std::size_t next_page = (before_bytes / os::page_bytes + 1) * os::page_bytes;
  EXPECT_TRUE(found.substr(next_page) == expected.substr(next_page));
}

INSTANTIATE_TEST_SUITE_P(All, LateError,
                         ::testing::Values(variant{"write"}, variant{"pwrite"}, variant{"io_uring"}, variant{"stdio"},
                                           variant{"write", page_cache_policy::drop}, variant{"pwrite", page_cache_policy::drop},
                                           variant{"io_uring", page_cache_policy::drop}),
                         [](const ::testing::TestParamInfo<variant>& chosen) {
                           return std::string(chosen.param.type) + (chosen.param.page_cache == page_cache_policy::drop ? "_drop" : "");
                         });

class LateErrorOfARing : public ::testing::Test {
 protected:
  static sink_config ring(const loop_disk& disk, sync_policy sync) {
    sink_config made = penstock::testing::small_ring(disk / "ring", 16 * mebibyte);
    made.sync = sync;
    return made;
  }
  temp_folder folder;
};

TEST_F(LateErrorOfARing, ThatIsSyncedIsMetAtTheStart) {
  loop_disk disk(folder.path(), thin);
  if (!disk.refused().empty()) GTEST_SKIP() << disk.refused();
  const sink_config settings = ring(disk, {.each_batch = true});
  EXPECT_THAT(refusal_of([&] { return make_mmap_ring_sink(settings); }), HasSubstr("cannot allocate the 16777216 bytes"));
  EXPECT_FALSE(std::filesystem::exists(disk / "ring"));
}

TEST_F(LateErrorOfARing, IsNeverFollowedByASyncThatSucceedsWhereNothingWasPreparedForThat) {
  loop_disk disk(folder.path(), thin);
  if (!disk.refused().empty()) GTEST_SKIP() << disk.refused();
  const auto made = make_mmap_ring_sink(ring(disk, {}));
  io_uring_driver backend(*made);
  std::string expected;
  ASSERT_TRUE(put(backend, expected, 8 * mebibyte).ok());
  const outcome failed = backend.sync();
  EXPECT_EQ(failed.code, errc::io);
  ASSERT_TRUE(disk.grow_backing(64 * mebibyte));
  EXPECT_EQ(backend.sync(), failed);
  EXPECT_TRUE(put(backend, expected, mebibyte).ok()) << "it goes on to take lines";
  EXPECT_EQ(penstock::testing::lines_in(disk / "ring"), expected);
}

}  // namespace
}  // namespace penstock::sinks
