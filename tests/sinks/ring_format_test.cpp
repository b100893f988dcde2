// SPDX-License-Identifier: MIT
#include "sinks/ring_format.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "sinks/ring_frames.hpp"

namespace penstock::sinks {
namespace {

// The worked example of docs/ring_format.md.
constexpr std::uint64_t file_id = 0x0123456789ABCDEF;
constexpr std::array<std::uint8_t, 48> example{
    0x00, 0x00, 0x00, 0x00, 0xBB, 0x79, 0xD3, 0x95,  //
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  //
    0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  //
    0x00, 0x00, 0x2A, 0x36, 0xFE, 0x9C, 0x97, 0x17,  //
    0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  //
    0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x0A, 0x00, 0x00,
};

/// A data area of one page, in memory, mirrored by hand.
struct small_data {
  small_data() { std::memcpy(bytes.data(), example.data(), example.size()); }
  ring_data view() const { return {bytes.data(), 4096, file_id}; }
  alignas(8) std::array<std::byte, 8192> bytes{};
};

TEST(RingFormat, IsAsTheDocumentedExampleHasIt) {
  const small_data data;
  const auto frame = frame_at(data.view(), 0);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->sequence, 1U);
  EXPECT_EQ(frame->time_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(frame->end(), 48U);
  EXPECT_FALSE(frame->continues_line());
  const auto lines = lines_of(data.view(), *frame);
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(lines.data()), lines.size()), "hello\n");
}

TEST(RingFormat, SeesEachFlippedBitOfAHeader) {
  for (std::size_t bit = 32; bit < 40 * 8; ++bit) {
    small_data data;
    data.bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(frame_at(data.view(), 0)) << "bit " << bit;
  }
}

TEST(RingFormat, TakesAFrameOnlyAtItsOwnPositionAndInItsOwnFile) {
  small_data data;
  EXPECT_FALSE(frame_at(data.view(), 4096)) << "a lap later";
  EXPECT_FALSE(frame_at({data.bytes.data(), 4096, file_id + 1}, 0));
  const frame_chain chain = follow_chain(data.view(), 0, true);
  EXPECT_EQ(chain.frame_count, 1U);
  EXPECT_EQ(chain.end, 48U);
  EXPECT_FALSE(chain.broken);
  EXPECT_TRUE(follow_chain(data.view(), 4, true).broken) << "no frame is there";
}

}  // namespace
}  // namespace penstock::sinks
