// SPDX-License-Identifier: MIT
// What file sinks refuse to open, and what they then say and leave behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <string>

#include "sinks/factory.hpp"
#include "tests/sinks/io_uring_driver.hpp"
#include "tests/sinks/ring_support.hpp"
#include "tests/support/file_attributes.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using penstock::testing::change_attribute;
using penstock::testing::refusal_of;
using penstock::testing::temp_folder;
using penstock::testing::write_text;
using ::testing::HasSubstr;

constexpr int no_mount_here = 77;

class FileSinkRefuses : public ::testing::TestWithParam<const char*> {
 protected:
  ~FileSinkRefuses() override { change_attribute(path, FS_APPEND_FL, false); }
  sink_config settings() {
    sink_config made = penstock::testing::small_ring(path);
    made.type = GetParam();
    return made;
  }
  bool appends() const { return std::string_view(GetParam()) == "write" || std::string_view(GetParam()) == "stdio"; }
  bool owns() const { return std::string_view(GetParam()) != "write"; }

  temp_folder folder;
  fs::path path = folder / "log";
};

TEST_P(FileSinkRefuses, WhereNoInodeIsLeftAndLeavesNothing) {
  const int status = penstock::testing::status_of_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("penstock_test", folder.path().c_str(), "tmpfs", 0, "size=1m,nr_inodes=2") != 0)
      return no_mount_here;
    write_text(folder / "hog", "");
    const std::string refusal = refusal_of([&] { return make_sink(settings()); });
    if (refusal.find("no space or no inode left") == std::string::npos || refusal.find(path.string()) == std::string::npos) return 1;
    fs::remove(folder / "hog");
    return refusal_of([&] { return make_sink(settings()); }).empty() ? 0 : 2;
  });
  if (status == no_mount_here) GTEST_SKIP() << "SKIPPED: mounting a tmpfs needs CAP_SYS_ADMIN";
  EXPECT_EQ(status, 0);
}

TEST_P(FileSinkRefuses, ASecondOwnerOfAFileThatItHasForItself) {
  const auto made = make_sink(settings());
  const std::string refusal = refusal_of([&] { return make_sink(settings()); });
  EXPECT_EQ(refusal.empty(), !owns()) << refusal;
  if (owns()) {
    EXPECT_THAT(refusal, HasSubstr(std::to_string(::getpid())));
  }
}

TEST_P(FileSinkRefuses, AFifoUnlessItOnlyAppends) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const std::string refusal = refusal_of([&] { return make_sink(settings()); });
  EXPECT_THAT(refusal, HasSubstr(owns() ? "not a regular file" : "nobody reads this FIFO"));
}

TEST_P(FileSinkRefuses, AnAppendOnlyFileUnlessItOnlyAppends) {
  write_text(path, "before\n");
  if (!change_attribute(path, FS_APPEND_FL, true)) GTEST_SKIP() << "SKIPPED: chattr +a needs root and ext4";
  if (!appends()) {
    EXPECT_THAT(refusal_of([&] { return make_sink(settings()); }), HasSubstr("append-only"));
    return;
  }
  const auto made = make_sink(settings());
  penstock::testing::io_uring_driver backend(*made);
  EXPECT_TRUE(backend.text("after\n").ok() && backend.flush().ok());
  EXPECT_EQ(penstock::testing::text_of(path), "before\nafter\n");
}

INSTANTIATE_TEST_SUITE_P(All, FileSinkRefuses, ::testing::Values("write", "pwrite", "io_uring", "stdio", "mmap_ring"),
                         [](const ::testing::TestParamInfo<const char*>& chosen) { return std::string(chosen.param); });

}  // namespace
}  // namespace penstock::sinks
