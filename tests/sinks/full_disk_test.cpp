// SPDX-License-Identifier: MIT
// A disk that is really full, and has room again: a small tmpfs in a mount namespace of its own, which goes with the child that made it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>

#include <fstream>
#include <string>

#include "sinks/factory.hpp"
#include "tests/sinks/backend_double.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using penstock::testing::backend_double;
using penstock::testing::masked_signals;
using penstock::testing::random_lines;
using penstock::testing::status_of_child;
using penstock::testing::temp_folder;
using penstock::testing::text_of;

constexpr int no_mount_here = 77;

bool mount_one_mebibyte(const fs::path& folder) {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("penstock_test", folder.c_str(), "tmpfs", 0, "size=1m") == 0;
}

/// Fills the disk up, makes room, and goes on. 0: every byte arrived.
int fill_and_go_on(const fs::path& folder, const char* type) {
  const masked_signals masked;
  std::ofstream(folder / "hog") << std::string(300'000, 'h');
  sink_config settings;
  settings.type = type;
  settings.path = folder / "log";
  settings.batch_size = 65536;
  const auto made = make_sink(settings);
  backend_double backend(*made);
  random_lines lines(17);
  std::string expected;
  outcome result;
  while (result.ok()) {
    const std::string line = lines.next(300);
    expected += line;
    result = backend.line(line);
  }
  if (!(result == outcome{errc::no_space, ENOSPC})) return 1;
  if (!(made->resume() == outcome{errc::no_space, ENOSPC})) return 2;
  const std::string when_full = text_of(folder / "log");
  if (when_full.size() < 500'000 || when_full != expected.substr(0, when_full.size())) return 3;
  fs::remove(folder / "hog");
  if (!made->resume().ok()) return 4;
  // The backend goes on with what is left of the line that met the error.
  const std::string rest = expected.substr(text_of(folder / "log").size()) + "after\n";
  if (!backend.line_now(rest).ok()) return 5;
  expected += "after\n";
  return text_of(folder / "log") == expected ? 0 : 6;
}

class FullDisk : public ::testing::TestWithParam<const char*> {};

TEST_P(FullDisk, LosesNothingOnceThereIsRoomAgain) {
  const temp_folder folder;
  const int status =
      status_of_child([&] { return mount_one_mebibyte(folder.path()) ? fill_and_go_on(folder.path(), GetParam()) : no_mount_here; });
  if (status == no_mount_here) GTEST_SKIP() << "SKIPPED: mounting a tmpfs needs CAP_SYS_ADMIN";
  EXPECT_EQ(status, 0);
}

TEST_P(FullDisk, CanBeFullAlreadyWhenTheFileIsOpened) {
  const temp_folder folder;
  const int status = status_of_child([&] {
    if (!mount_one_mebibyte(folder.path())) return no_mount_here;
    const masked_signals masked;
    std::ofstream(folder / "hog") << std::string(2'000'000, 'h');
    sink_config settings;
    settings.type = GetParam();
    settings.path = folder / "log";
    settings.batch_size = 4096;
    const auto made = make_sink(settings);
    if (!(backend_double(*made).line_now("line\n") == outcome{errc::no_space, ENOSPC})) return 1;
    fs::remove(folder / "hog");
    return made->resume().ok() && text_of(folder / "log") == "line\n" ? 0 : 2;
  });
  if (status == no_mount_here) GTEST_SKIP() << "SKIPPED: mounting a tmpfs needs CAP_SYS_ADMIN";
  EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(All, FullDisk, ::testing::Values("write", "pwrite", "stdio"),
                         [](const ::testing::TestParamInfo<const char*>& chosen) { return std::string(chosen.param); });

}  // namespace
}  // namespace penstock::sinks
