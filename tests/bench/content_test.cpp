// SPDX-License-Identifier: MIT
#include "bench/suites/content.hpp"

#include <gtest/gtest.h>

#include "bench/suites/checksum.hpp"

namespace penstock::bench {
namespace {

std::vector<std::byte> bytes_of(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

TEST(Checksum, IsTheSameHoweverTheStreamIsDivided) {
  const std::span<const std::byte> data = content::instance().block(0, 100'003);
  const digest whole = digest_of(data);
  for (const std::size_t piece : {1U, 3U, 7U, 8U, 4096U, 50'000U}) {
    checksum sum;
    for (std::size_t at = 0; at < data.size(); at += piece) sum.add(data.subspan(at, std::min(piece, data.size() - at)));
    EXPECT_EQ(sum.result(), whole) << "pieces of " << piece;
  }
}

TEST(Checksum, TellsAChangedByteAtEveryPlace) {
  std::vector<std::byte> data(41, std::byte{7});
  const digest before = digest_of(data);
  for (std::size_t i = 0; i < data.size(); ++i) {
    data[i] = std::byte{8};
    EXPECT_NE(digest_of(data), before) << "byte " << i;
    data[i] = std::byte{7};
  }
}

TEST(Checksum, TellsTwoSwappedWords) {
  EXPECT_NE(digest_of(bytes_of({1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0})),
            digest_of(bytes_of({2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0})));
}

TEST(Checksum, TellsALostByteAtTheEnd) { EXPECT_NE(digest_of(bytes_of({1, 2, 0})), digest_of(bytes_of({1, 2}))); }

TEST(Content, ABlockIsThePieceOfTheStreamAtItsOffset) {
  const content& stream = content::instance();
  const std::uint64_t offset = content::period_bytes - 10;
  const std::span<const std::byte> across = stream.block(offset, 20);
  for (std::size_t i = 0; i < across.size(); ++i)
    EXPECT_EQ(across[i], content_byte(static_cast<std::uint32_t>((offset + i) % content::period_bytes)));
}

TEST(Content, TheExpectedDigestIsThatOfTheStream) {
  const content& stream = content::instance();
  checksum sum;
  for (std::uint64_t offset = 0; offset < 1'000'001; offset += 9'091)
    sum.add(stream.block(offset, std::min<std::size_t>(9'091, 1'000'001 - offset)));
  EXPECT_EQ(stream.expected(1'000'001), sum.result());
}

TEST(Content, TheByteSumIsThatOfTheStream) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < 450'001; ++i)
    sum += std::to_integer<std::uint64_t>(content_byte(static_cast<std::uint32_t>(i % content::period_bytes)));
  EXPECT_EQ(content::instance().byte_sum(450'001), sum);
}

TEST(Records, AreLinesOfTheAskedLength) {
  const records lines(1'500);
  for (std::size_t i = 0; i < records::count; ++i) {
    const std::span<const std::byte> line = lines[i];
    ASSERT_EQ(line.size(), 1'500U);
    EXPECT_EQ(line.back(), std::byte{'\n'});
    EXPECT_EQ(std::count(line.begin(), line.end(), std::byte{'\n'}), 1);
  }
  EXPECT_EQ(lines.expected().bytes, 1'500'000U);
}

TEST(Records, NeighboursDiffer) {
  const records lines(50'000);
  EXPECT_FALSE(std::equal(lines[0].begin(), lines[0].end(), lines[1].begin()));
}

}  // namespace
}  // namespace penstock::bench
