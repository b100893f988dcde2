// SPDX-License-Identifier: MIT
// The ring itself, where more happens than its queues hold.
#include "sinks/uring.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <set>
#include <string>

#include "lib/os/file.hpp"
#include "tests/sinks/io_uring_driver.hpp"

namespace penstock::sinks {
namespace {

using namespace std::chrono_literals;

struct Uring : ::testing::Test {
  void SetUp() override {
    if (const std::string reason = penstock::testing::io_uring_refusal(); !reason.empty())
      GTEST_SKIP() << "io_uring cannot be used here: " << reason;
    ASSERT_EQ(ring.open(4), 0);
    ring.use_files(file.get(), file.get());
  }
  void put(unsigned number) {
    text[number] = static_cast<char>('a' + number % 26);
    ring.put({.data = std::as_bytes(std::span(text).subspan(number, 1)), .offset = number, .tag = number});
  }

  penstock::testing::temp_folder folder;
  os::descriptor file{::open((folder / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
  std::array<char, 64> text{};
  uring ring;
};

TEST_F(Uring, HasRoomAgainOnceWhatFillsItIsSent) {
  for (unsigned number = 0; number < 4; ++number) {
    ASSERT_EQ(ring.vacant(), 4 - number);
    put(number);
  }
  EXPECT_EQ(ring.vacant(), 0U);
  EXPECT_EQ(ring.unsent(), 4U);
  EXPECT_EQ(ring.send(), 0);
  EXPECT_EQ(ring.vacant(), 4U);
}

// A ring of 4 keeps 8 results. Of the rest the kernel keeps the list, or it takes no more requests until results are taken.
TEST_F(Uring, LosesNoResultOfMoreRequestsThanItsQueueHolds) {
  constexpr unsigned count = 40;
  std::multiset<std::uint64_t> answered;
  const auto take = [&] {
    std::array<uring_result, 16> results{};
    const std::size_t taken = ring.take(results);
    for (std::size_t i = 0; i < taken; ++i) {
      EXPECT_EQ(results[i].result, 1) << results[i].tag;
      answered.insert(results[i].tag);
    }
    return taken;
  };
  unsigned refused_count = 0;
  for (unsigned number = 0; number < count; ++number) {
    put(number);
    while (ring.vacant() == 0) {
      if (ring.send() == 0) continue;
      ++refused_count;
      take();
    }
  }
  EXPECT_TRUE(answered.empty() || refused_count > 0) << "this test can no longer fail";
  const auto deadline = std::chrono::steady_clock::now() + 30s;
  while (answered.size() < count && std::chrono::steady_clock::now() < deadline)
    if (take() == 0) ring.wait(100ms);
  ASSERT_EQ(answered.size(), count);
  for (unsigned number = 0; number < count; ++number) EXPECT_EQ(answered.count(number), 1U) << number;
  EXPECT_EQ(take(), 0U) << "nothing twice";
  EXPECT_EQ(penstock::testing::text_of(folder / "file"), std::string(text.data(), count));
}

}  // namespace
}  // namespace penstock::sinks
