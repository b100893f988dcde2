// SPDX-License-Identifier: MIT
#include "lib/transport/thread_stream.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <thread>
#include <vector>

#include "lib/os/futex.hpp"
#include "lib/transport/registry.hpp"
#include "tests/support/stream_driver.hpp"

namespace penstock {
namespace {

using testing::stream_driver;
using transport::chunk;
using transport::chunk_kind;

std::vector<chunk*> take_all(transport::exchange& memory, chunk_kind kind) {
  std::vector<chunk*> all;
  while (chunk* taken = memory.take(kind)) all.push_back(taken);
  return all;
}

struct ThreadStream : ::testing::Test {
  ThreadStream() { memory.set_budget(std::size_t{1} << 20); }
  void give_finished(transport::thread_stream& stream) {
    for (chunk* done : stream.finished()) memory.give(done);
    stream.finished().clear();
  }

  transport::exchange memory;
  transport::registry streams{memory};
};

TEST_F(ThreadStream, GivesRecordsBackInOrderOverManyChunks) {
  transport::thread_stream* stream = streams.open(1);
  stream_driver driver(memory, *stream);
  int next = 0;
  for (int i = 0; i < 5'000; ++i) {
    ASSERT_TRUE(driver.log("record " + std::to_string(i), static_cast<std::uint64_t>(i)));
    if (i % 50 != 49) continue;
    while (const detail::record_header* record = stream->peek()) {
      EXPECT_EQ(testing::text_of(*record), "record " + std::to_string(next++));
      stream->pop(record);
    }
    give_finished(*stream);
  }
  EXPECT_EQ(next, 5'000);
  EXPECT_EQ(memory.used_bytes(), transport::page_bytes) << "only the chunk that is being written may be in use";
}

TEST_F(ThreadStream, ShowsNothingOfARecordBeforeItIsCommitted) {
  transport::thread_stream* stream = streams.open(1);
  stream_driver driver(memory, *stream);
  ASSERT_TRUE(driver.place(detail::record_bytes_for(5), "later", 1));
  EXPECT_EQ(stream->peek(), nullptr);
  detail::commit(*stream, detail::record_bytes_for(5), [&] { stream->announce_if_parked(); });
  ASSERT_NE(stream->peek(), nullptr);
  EXPECT_EQ(testing::text_of(*stream->peek()), "later");
}

TEST_F(ThreadStream, CarriesARecordThatFitsNoChunkInARunOfItsOwn) {
  transport::thread_stream* stream = streams.open(1);
  stream_driver driver(memory, *stream);
  const std::string large(200'000, 'L');
  ASSERT_TRUE(driver.log("before", 1));
  ASSERT_TRUE(driver.log(large, 2));
  ASSERT_TRUE(driver.log("behind", 3));
  for (const std::string& expected : {std::string("before"), large, std::string("behind")}) {
    const detail::record_header* record = stream->peek();
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(testing::text_of(*record), expected);
    stream->pop(record);
  }
}

TEST_F(ThreadStream, ReadsAllThatWasWrittenBetweenLettingGoOfChunkAfterChunk) {
  transport::thread_stream* stream = streams.open(1);
  stream_driver driver(memory, *stream);
  int next = 0;
  for (int round = 0; round < 20; ++round) {
    // The reader comes now and then only.
    for (int i = 0; i < 5; ++i) {
      ASSERT_TRUE(driver.log(std::to_string(5 * round + i), 1));
      if (i % 2 == 0) stream->detach_chunk();
    }
    while (const detail::record_header* record = stream->peek()) {
      EXPECT_EQ(testing::text_of(*record), std::to_string(next++));
      stream->pop(record);
    }
    EXPECT_EQ(stream->unread_bytes(), 0U);
    give_finished(*stream);
  }
  EXPECT_EQ(next, 100);
  EXPECT_EQ(memory.used_bytes(), 0U) << "a thread that let go of its chunk holds none";
}

TEST_F(ThreadStream, ReckonsUnreadBytesByWhatTheReaderHasPublished) {
  transport::thread_stream* stream = streams.open(1);
  stream_driver driver(memory, *stream);
  ASSERT_TRUE(driver.log("12345678", 1));
  const std::uint64_t one = stream->unread_bytes();
  EXPECT_EQ(one, detail::record_bytes_for(8));
  stream->pop(stream->peek());
  EXPECT_EQ(stream->unread_bytes(), one) << "published once a pass, not record by record";
  EXPECT_EQ(stream->peek(), nullptr);
  EXPECT_EQ(stream->unread_bytes(), 0U);
}

TEST_F(ThreadStream, ServesAnotherThreadWithoutLosingItsCounts) {
  transport::thread_stream* first = streams.open(1);
  stream_driver driver(memory, *first);
  ASSERT_TRUE(driver.log("a", 1));
  first->pop(first->peek());
  EXPECT_TRUE(first->drained());
  first->close();
  memory.give(first->release_chunk());
  const std::uint64_t id = first->id();
  streams.give_back(first);
  transport::thread_stream* second = streams.open(2);
  ASSERT_EQ(second, first);
  EXPECT_NE(second->id(), id);
  stream_driver again(memory, *second);
  ASSERT_TRUE(again.log("b", 2));
  EXPECT_EQ(testing::text_of(*second->peek()), "b");
  EXPECT_EQ(second->accepted_counts()[level::info], 2U);
  EXPECT_EQ(second->unread_bytes(), detail::record_bytes_for(1));
}

TEST_F(ThreadStream, ReadsWhatAThreadWritesAtTheSameTimeConcurrently) {
  transport::thread_stream* stream = streams.open(1);
  constexpr int count = 200'000;
  std::thread thread([&] {
    stream_driver driver(memory, *stream);
    for (int i = 0; i < count; ++i)
      while (!driver.log(std::to_string(i), static_cast<std::uint64_t>(i))) std::this_thread::yield();
  });
  int next = 0;
  while (next < count) {
    while (const detail::record_header* record = stream->peek()) {
      ASSERT_EQ(testing::text_of(*record), std::to_string(next));
      ++next;
      stream->pop(record);
    }
    give_finished(*stream);
  }
  thread.join();
}

TEST(Exchange, NeverHandsOutMoreThanTheBudgetWhateverTheKinds) {
  transport::exchange memory;
  memory.set_budget(16 * transport::block_bytes);
  std::vector<chunk*> blocks = take_all(memory, chunk_kind::block);
  EXPECT_EQ(blocks.size(), 16U);
  EXPECT_EQ(memory.take(chunk_kind::page), nullptr);
  EXPECT_EQ(memory.take(chunk_kind::run, 100'000), nullptr);
  memory.give(blocks.back());
  blocks.pop_back();
  std::vector<chunk*> pages = take_all(memory, chunk_kind::page);
  EXPECT_EQ(pages.size(), transport::block_pages) << "a recycled block's memory serves as pages";
  EXPECT_EQ(memory.used_bytes(), memory.budget_bytes());
}

TEST(Exchange, MakesOneLargeRunOutOfScatteredFreeChunks) {
  transport::exchange memory;
  memory.set_budget(std::size_t{1} << 20);
  std::vector<chunk*> pages = take_all(memory, chunk_kind::page);
  ASSERT_EQ(pages.size(), 256U);
  for (std::size_t i = 0; i < pages.size(); i += 2) memory.give(pages[i]);
  chunk* run = memory.take(chunk_kind::run, 128 * transport::page_bytes);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->bytes, 128 * transport::page_bytes);
  EXPECT_EQ(memory.take(chunk_kind::page), nullptr);
  memory.give(run);
  EXPECT_NE(memory.take(chunk_kind::page), nullptr);
}

TEST(Exchange, RecyclesAChunkCleanWithItsOwnReference) {
  transport::exchange memory;
  memory.set_budget(std::size_t{1} << 20);
  chunk* taken = memory.take(chunk_kind::page);
  taken->committed_bytes.store(999, std::memory_order_relaxed);
  taken->next.store(7, std::memory_order_relaxed);
  memory.give(taken);
  chunk* again = memory.take(chunk_kind::page);
  ASSERT_EQ(again, taken);
  EXPECT_EQ(again->committed_bytes.load(), sizeof(chunk));
  EXPECT_EQ(again->next.load(), 0U);
  EXPECT_EQ(memory.at(again->self), again);
}

TEST(Exchange, LeavesHalfOfTheBudgetWhenManyThreadsHoldBlocks) {
  transport::exchange memory;
  memory.set_budget(16 * transport::block_bytes);
  int opened = 0;
  while (memory.may_open_block()) {
    memory.block_opened();
    ++opened;
  }
  EXPECT_EQ(opened, 8);
}

TEST(Exchange, TakesChunksOfAnEarlierBudgetBack) {
  transport::exchange memory;
  memory.set_budget(std::size_t{1} << 20);
  chunk* old = memory.take(chunk_kind::page);
  memory.set_budget(std::size_t{2} << 20);
  EXPECT_EQ(memory.at(old->self), old);
  memory.give(old);
  EXPECT_EQ(memory.used_bytes(), 0U);
}

// What freed_count() gives changes when somebody is woken.
TEST(Exchange, WakesNobodyForLittleUnlessLittleWasAllFor8Turns) {
  transport::exchange memory;
  memory.set_budget(64 * transport::block_bytes);
  std::vector<chunk*> all = take_all(memory, chunk_kind::block);
  ASSERT_EQ(all.size(), 64U);
  const auto give = [&] {
    memory.give(all.back());
    all.pop_back();
  };
  const transport::exchange::waiter waiting(memory);
  const std::uint32_t at_first = waiting.freed_count();
  for (int i = 0; i < 3; ++i) {
    give();
    memory.wake_waiting();
  }
  EXPECT_EQ(waiting.freed_count(), at_first) << "three blocks of 64";
  give();
  memory.wake_waiting();
  EXPECT_EQ(waiting.freed_count(), at_first + 1) << "a sixteenth";
  for (int i = 0; i < 2; ++i) all.push_back(memory.take(chunk_kind::block));
  for (int i = 0; i < 7; ++i) memory.wake_waiting();
  EXPECT_EQ(waiting.freed_count(), at_first + 1);
  memory.wake_waiting();
  EXPECT_EQ(waiting.freed_count(), at_first + 2) << "others take what is given";
  memory.wake_all_waiting();
  EXPECT_EQ(waiting.freed_count(), at_first + 3);
}

TEST(Exchange, WakesTheSoonerTheMoreWait) {
  transport::exchange memory;
  memory.set_budget(64 * transport::block_bytes);
  while (memory.take(chunk_kind::block) != nullptr) {
  }
  const auto turns_until_woken = [&](const transport::exchange::waiter& one) {
    const std::uint32_t before = one.freed_count();
    int turns = 0;
    while (one.freed_count() == before && turns < 100) {
      memory.wake_waiting();
      ++turns;
    }
    return turns;
  };
  std::deque<transport::exchange::waiter> waiting;
  std::vector<int> turns;
  for (int i = 0; i < 10; ++i) {
    waiting.emplace_back(memory);
    turns.push_back(turns_until_woken(waiting.front()));
  }
  EXPECT_EQ(turns, (std::vector<int>{8, 4, 3, 2, 2, 2, 2, 2, 2, 2}));
}

TEST(Exchange, WakesWhoeverWaitsForALargeRecordAtEachChunk) {
  transport::exchange memory;
  memory.set_budget(std::size_t{4} << 20);
  std::vector<chunk*> all = take_all(memory, chunk_kind::block);
  const transport::exchange::waiter waiting(memory);
  ASSERT_TRUE(memory.try_claim());
  const std::uint32_t at_first = waiting.freed_count();
  memory.give(all.back());
  memory.wake_waiting();
  EXPECT_EQ(waiting.freed_count(), at_first + 1);
}

TEST(Exchange, WakesAThreadThatWaitsForMemoryConcurrently) {
  transport::exchange memory;
  memory.set_budget(std::size_t{1} << 20);
  std::vector<chunk*> all = take_all(memory, chunk_kind::block);
  for (int round = 0; round < 200; ++round) {
    std::thread thread([&] {
      transport::exchange::waiter waiting(memory);
      for (;;) {
        const std::uint32_t seen = waiting.freed_count();
        if (chunk* taken = memory.take(chunk_kind::block)) {
          all.back() = taken;
          return;
        }
        waiting.wait_for_memory(seen, std::chrono::seconds(60));
      }
    });
    for (int pause = (round * 131) % 997; pause > 0; --pause) os::cpu_relax();
    memory.give(all.back());
    memory.wake_waiting();
    thread.join();
  }
}

}  // namespace
}  // namespace penstock
