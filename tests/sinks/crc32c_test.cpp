// SPDX-License-Identifier: MIT
#include "sinks/crc32c.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string_view>
#include <vector>

namespace penstock::sinks {
namespace {

// Source: RFC 3720, B.4, and the check value of the CRC catalogue.
TEST(Crc32c, GivesThePublishedValues) {
  const std::string_view digits = "123456789";
  EXPECT_EQ(crc32c(std::as_bytes(std::span(digits))), 0xE3069283U);
  EXPECT_EQ(crc32c_by_table(std::as_bytes(std::span(digits))), 0xE3069283U);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32)), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::vector<std::byte>(32, std::byte{0xFF})), 0x62A8AB43U);
}

TEST(Crc32c, IsTheSameByTableAndByInstructionForEveryLength) {
  std::mt19937 random(1);
  std::vector<std::byte> data;
  for (int length = 0; length < 300; ++length) {
    EXPECT_EQ(crc32c(data), crc32c_by_table(data));
    data.push_back(static_cast<std::byte>(random()));
  }
}

}  // namespace
}  // namespace penstock::sinks
