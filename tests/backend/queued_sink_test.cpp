// SPDX-License-Identifier: MIT
#include "lib/backend/queued_sink.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/support/controlled_sink.hpp"

namespace penstock {
namespace {

using backend::queued_sink;
using testing::controlled_sink;
using testing::sink_control;

constexpr std::size_t batch_bytes = 4096;

struct QueuedSink : ::testing::Test {
  // Lays `text` out in the lent room; false: none is free.
  bool put(std::string_view text) {
    const batch lent = queue.lend({});
    if (lent.room.empty()) return false;
    std::memcpy(lent.room.data(), text.data(), text.size());
    last = queue.submit(text.size());
    return true;
  }

  void await_flush() {
    while (queue.flush().code == errc::pending) {
    }
  }

  std::shared_ptr<sink_control> control = std::make_shared<sink_control>();
  queued_sink queue{std::make_unique<controlled_sink>(control), batch_bytes};
  outcome last{};
};

TEST_F(QueuedSink, BringsBatchesToTheSinkInOrderConcurrently) {
  std::string expected;
  for (int i = 0; i < 1'000; ++i) {
    const std::string text = "line " + std::to_string(i) + "\n";
    while (!put(text)) {
    }
    expected += text;
  }
  await_flush();
  EXPECT_EQ(control->text(), expected);
  EXPECT_EQ(queue.in_flight_bytes(), 0U);
}

TEST_F(QueuedSink, TakesFourBatchesWhileTheSinkStandsStillAndThenLendsNothingConcurrently) {
  control->stall();
  ASSERT_TRUE(put("1\n"));
  control->await_stall();
  ASSERT_TRUE(put("2\n"));
  ASSERT_TRUE(put("3\n"));
  ASSERT_TRUE(put("4\n"));
  EXPECT_FALSE(put("5\n")) << "four batches in all";
  EXPECT_EQ(queue.flush().code, errc::pending);
  EXPECT_EQ(queue.in_flight_bytes(), 8U);
  control->let_go();
  await_flush();
  EXPECT_EQ(control->text(), "1\n2\n3\n4\n");
  EXPECT_TRUE(put("5\n"));
}

TEST_F(QueuedSink, HoldsEverythingAfterAnErrorUntilItIsResumedConcurrently) {
  control->every_result = {errc::no_space, ENOSPC};
  ASSERT_TRUE(put("a\n"));
  while (queue.flush().code == errc::pending) {
  }
  EXPECT_EQ(queue.flush().code, errc::no_space);
  EXPECT_EQ(queue.flush().os_error, ENOSPC);
  EXPECT_FALSE(put("b\n")) << "nothing is lent while an error is held";
  EXPECT_EQ(queue.resume().code, errc::no_space);
  {
    const std::lock_guard lock(control->mutex);
    control->every_result = {};
  }
  EXPECT_TRUE(queue.resume().ok());
  ASSERT_TRUE(put("b\n"));
  await_flush();
  EXPECT_EQ(control->text(), "a\nb\n");
  EXPECT_EQ(queue.in_flight_bytes(), 0U);
}

TEST_F(QueuedSink, KeepsTheAnswerToAResumeThatTakesItsTimeConcurrently) {
  control->results = {{errc::io, EIO}};
  ASSERT_TRUE(put("a\n"));
  while (queue.flush().code == errc::pending) {
  }
  control->stall();
  EXPECT_EQ(queue.resume().code, errc::pending);
  EXPECT_EQ(queue.resume().code, errc::pending);
  EXPECT_EQ(queue.flush().code, errc::io) << "held until the answer is there";
  control->let_go();
  outcome result{errc::pending, 0};
  while (result.code == errc::pending) result = queue.resume();
  EXPECT_TRUE(result.ok());
  await_flush();
  EXPECT_EQ(control->text(), "a\n");
}

TEST_F(QueuedSink, GivesUpWhatIsHeldAndWhatWaitsBehindItConcurrently) {
  control->stall();
  control->every_result = {errc::io, EIO};
  ASSERT_TRUE(put("aa\n"));
  control->await_stall();
  ASSERT_TRUE(put("bbb\n"));
  control->let_go();
  while (queue.flush().code == errc::pending) {
  }
  EXPECT_EQ(queue.abandon(), 7U);
  EXPECT_EQ(queue.in_flight_bytes(), 0U);
  {
    const std::lock_guard lock(control->mutex);
    control->every_result = {};
  }
  ASSERT_TRUE(put("c\n"));
  await_flush();
  EXPECT_EQ(control->text(), "c\n");
}

TEST_F(QueuedSink, DividesNoLineForASinkThatCutsAtLinesConcurrently) {
  control->end = cut::lines;
  control->room_bytes = 10;
  ASSERT_TRUE(put("123456\n1234\n12\n1\n"));
  await_flush();
  EXPECT_EQ(control->text(), "123456\n1234\n12\n1\n");
  EXPECT_EQ(control->batches, (std::vector<std::size_t>{7, 10}));
}

TEST_F(QueuedSink, SyncsOnlyWhenEverythingBeforeIsWrittenConcurrently) {
  control->stall();
  ASSERT_TRUE(put("a\n"));
  control->await_stall();
  EXPECT_EQ(queue.sync().code, errc::pending);
  control->let_go();
  while (queue.sync().code == errc::pending) {
  }
  EXPECT_EQ(control->text(), "a\n");
}

}  // namespace
}  // namespace penstock
