// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "sinks/write_queue.hpp"

namespace penstock::sinks {
namespace {

class WriteQueue : public ::testing::Test {
 protected:
  void push(std::string_view text, unsigned buffer, std::size_t own_bytes = 0) {
    queue.push({.data = reinterpret_cast<const std::byte*>(text.data()), .buffer = buffer, .bytes = text.size(), .own_bytes = own_bytes});
  }
  void send_and_return(std::size_t index, std::size_t written_bytes) {
    queue.sent(queue[index], queue[index].rest().size());
    queue.returned(queue[index], written_bytes);
  }

  write_queue queue{3};
};

TEST_F(WriteQueue, CountsAsWrittenOnlyWhatIsInFrontOfTheFirstGap) {
  queue.start_at(100);
  push("0123456789", 0);
  push("abcdefghij", 1);
  send_and_return(1, 10);
  EXPECT_EQ(queue.written(), 100U);
  EXPECT_EQ(queue.unwritten_bytes(), 20U);
  send_and_return(0, 4);
  EXPECT_EQ(queue.written(), 104U);
  EXPECT_EQ(queue.unwritten_bytes(), 16U);
  send_and_return(0, 6);
  unsigned buffer = 9;
  ASSERT_TRUE(queue.pop_done(buffer));
  EXPECT_EQ(buffer, 0U);
  ASSERT_TRUE(queue.pop_done(buffer));
  EXPECT_EQ(buffer, 1U);
  EXPECT_EQ(queue.written(), 120U);
  EXPECT_FALSE(queue.pop_done(buffer));
}

TEST_F(WriteQueue, FindsABatchByItsTagAlsoAfterTheQueueWentRound) {
  unsigned buffer = 0;
  for (unsigned round = 0; round < 7; ++round) {
    push("xy", round);
    push("z", round + 100);
    EXPECT_EQ(queue.tagged(queue.tag_of(0)).buffer, round);
    EXPECT_EQ(queue.tagged(queue.tag_of(1)).buffer, round + 100);
    send_and_return(0, 2);
    send_and_return(1, 1);
    ASSERT_TRUE(queue.pop_done(buffer));
    ASSERT_TRUE(queue.pop_done(buffer));
  }
  EXPECT_EQ(queue.end(), 21U);
}

TEST_F(WriteQueue, DoesNotCountTheNewlineOfASeam) {
  push("\nabc", 0, 1);
  push("de", 1);
  EXPECT_EQ(queue.unwritten_bytes(), 5U);
  send_and_return(0, 1);
  EXPECT_EQ(queue.unwritten_bytes(), 5U);
  send_and_return(0, 2);
  EXPECT_EQ(queue.unwritten_bytes(), 3U);
}

TEST_F(WriteQueue, WritesAgainWhatWasCutOffBehindTheGap) {
  push("0123456789", 0);
  push("abcdefghij", 1);
  send_and_return(0, 3);
  send_and_return(1, 10);
  queue.forget_behind_gap();
  EXPECT_EQ(queue[0].position(), 3U);
  EXPECT_EQ(queue[1].position(), 10U);
}

TEST_F(WriteQueue, TakesTheLastBatchesOutDownToWhatIsWritten) {
  queue.start_at(50);
  push("0123456789", 0);
  push("abcdefghij", 1);
  send_and_return(0, 3);
  EXPECT_EQ(queue.pop_last(), 1U);
  EXPECT_EQ(queue.pop_last(), 0U);
  EXPECT_EQ(queue.end(), 53U);
  EXPECT_EQ(queue.written(), 53U);
}

TEST_F(WriteQueue, GoesToANewFileFromTheLineThatWasUnderWay) {
  queue.start_at(50);
  push("one\ntwo\nthree\n", 0);
  push("four\n", 1);
  send_and_return(0, 10);
  queue.start_at_open_line();
  queue.move_to(0);
  EXPECT_EQ(queue[0].rest().size(), 6U);
  EXPECT_EQ(std::memcmp(queue[0].rest().data(), "three\n", 6), 0);
  EXPECT_EQ(queue[1].begin, 6U);
  EXPECT_EQ(queue.end(), 11U);
  EXPECT_EQ(queue.unwritten_bytes(), 11U);
}

TEST_F(WriteQueue, ForgetsWhatIsOnItsWayWhenTheRingIsGone) {
  push("0123456789", 0);
  queue.sent(queue[0], 10);
  EXPECT_EQ(queue.on_the_way(), 1U);
  queue.recall();
  EXPECT_EQ(queue.on_the_way(), 0U);
  EXPECT_EQ(queue[0].rest().size(), 10U);
}

}  // namespace
}  // namespace penstock::sinks
