// SPDX-License-Identifier: MIT
#include "lib/os/mapping.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "lib/os/file.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::testing {
namespace {

class Mapping : public ::testing::Test {
 protected:
  Mapping() : file_(::open((folder_ / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (::ftruncate(file_.get(), static_cast<off_t>(page_ + data_bytes_)) != 0) throw std::runtime_error("ftruncate");
  }
  os::mirrored_mapping map(bool writable = true) const {
    return os::mirrored_mapping(file_.get(), {.header_bytes = page_, .data_bytes = data_bytes_, .writable = writable});
  }

  const std::size_t page_ = os::system_page_bytes();
  const std::size_t data_bytes_ = 3 * os::system_page_bytes();
  temp_folder folder_{};
  os::descriptor file_;
};

TEST_F(Mapping, ShowsWhatRunsOverTheEndAtTheStart) {
  const auto mapping = map();
  std::memcpy(mapping.data() + data_bytes_ - 3, "abcdef", 6);
  EXPECT_EQ(std::memcmp(mapping.data(), "def", 3), 0);
  EXPECT_EQ(std::memcmp(mapping.data() + data_bytes_, "def", 3), 0);
  const std::string text = text_of(folder_ / "file");
  EXPECT_EQ(text.substr(page_, 3), "def");
  EXPECT_EQ(text.substr(text.size() - 3), "abc");
}

TEST_F(Mapping, IsAlignedForHugePages) { EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map().header()) % (std::size_t{2} << 20), 0U); }

TEST_F(Mapping, GivesAllOfItsAddressesBack) {
  std::span<std::byte> whole;
  {
    auto mapping = map();
    whole = mapping.whole();
    EXPECT_EQ(whole.size(), page_ + 2 * data_bytes_);
    const os::mirrored_mapping moved = std::move(mapping);
    EXPECT_EQ(moved.header(), whole.data());
  }
  for (std::size_t offset = 0; offset < whole.size(); offset += page_) {
    EXPECT_EQ(::msync(whole.data() + offset, page_, MS_ASYNC), -1);
    EXPECT_EQ(errno, ENOMEM);
  }
}

TEST_F(Mapping, DoesNotExistInAForkedChild) {
  const auto mapping = map();
  // By the end of the path, since the kernel may name the folders above otherwise.
  const std::string path = (folder_.path().filename() / "file").string();
  const auto is_mapped = [&] {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
      if (line.ends_with(path)) return 1;
    return 0;
  };
  EXPECT_EQ(is_mapped(), 1);
  EXPECT_EQ(status_of_child(is_mapped), 0);
}

TEST_F(Mapping, PopulatesWithoutChangingAByte) {
  const auto mapping = map();
  std::memset(mapping.data(), 'x', data_bytes_);
  EXPECT_EQ(os::populate_for_writing(mapping.whole()), 0);
  os::touch_pages_for_writing(mapping.whole());
  EXPECT_TRUE(std::all_of(mapping.data(), mapping.data() + data_bytes_, [](std::byte b) { return b == std::byte{'x'}; }));
}

TEST_F(Mapping, PopulatingPagesWithoutAFileBehindThemIsAnErrorAndNotASignal) {
  const auto mapping = map();
  ASSERT_EQ(::ftruncate(file_.get(), 0), 0);
  EXPECT_EQ(os::populate_for_writing(mapping.whole()), EFAULT);
}

TEST_F(Mapping, RefusesADescriptorThatCannotBeMapped) {
  EXPECT_THROW(os::mirrored_mapping(-1, {.header_bytes = page_, .data_bytes = page_, .writable = true}), std::system_error);
}

}  // namespace
}  // namespace penstock::testing
