// SPDX-License-Identifier: MIT
// The backend turned by hand, with times that the test chooses.
#include "lib/backend/worker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/support/controlled_sink.hpp"
#include "tests/support/stream_driver.hpp"

namespace penstock {
namespace {

using backend::moment;
using testing::stream_driver;

constexpr detail::call_site site_of(level l) { return {.source = {"{}", "test.cpp", "test", 1}, .level = l}; }
constexpr detail::call_site error_site = site_of(level::error);
constexpr std::int64_t ms = 1'000'000;

struct Worker : ::testing::Test {
  void configure(std::string_view pattern = "{message}", std::chrono::nanoseconds window = std::chrono::microseconds(5)) {
    memory.set_budget(std::size_t{4} << 20);
    std::vector<std::unique_ptr<backend::output>> outputs;
    outputs.push_back(std::make_unique<backend::output>(
        std::make_unique<testing::controlled_sink>(control),
        std::make_shared<backend::line_layout>(pattern, control_chars_policy::escape, false), backend::output_settings{.name = "test"}));
    std::vector<backend::route> table;
    table.push_back({"root", {outputs.front().get()}});
    routes.publish(std::move(table));
    backend_config settings;
    settings.reorder_window = window;
    worker.configure(settings, std::move(outputs), [this](const error_report& report) { reports.emplace_back(report.message); });
    // Long enough ago that nothing here is in the future of the real clock, and not before the counter began with this machine.
    const moment now = worker.now();
    start = {now.ticks - std::min(now.ticks / 2, worker.clock().ticks_of_ns(3600'000 * ms)), now.steady_ns};
  }

  std::uint64_t ticks_at(std::int64_t after_ns) const { return start.ticks + worker.clock().ticks_of_ns(after_ns); }
  moment at(std::int64_t after_ns) const { return {ticks_at(after_ns), start.steady_ns + after_ns}; }
  // What has left the backend; the batch that is open is handed over first.
  std::string written() {
    worker.outputs().front()->submit();
    return control->text();
  }
  std::uint64_t late() {
    front_stats front;
    worker.add_stats(front);
    return front.late;
  }

  std::shared_ptr<testing::sink_control> control = std::make_shared<testing::sink_control>();
  transport::exchange memory;
  transport::registry streams{memory};
  backend::route_table routes;
  backend::worker worker{memory, streams, routes};
  std::vector<std::string> reports;
  moment start{};
};

TEST_F(Worker, PutsRecordsOfAllThreadsInTimeOrderInsideTheWindow) {
  configure();
  std::vector<stream_driver> drivers;
  for (int i = 0; i < 5; ++i) drivers.emplace_back(memory, *streams.open(i));
  // Thread t logs at t, t + 5, t + 10 ... us, each thread all at once.
  for (int t = 0; t < 5; ++t)
    for (int i = 0; i < 100; ++i)
      ASSERT_TRUE(drivers[static_cast<std::size_t>(t)].log(std::to_string(5 * i + t), ticks_at((5 * i + t) * 1'000)));
  worker.turn(at(10 * ms));
  std::istringstream in(written());
  int expected = 0;
  for (std::string line; std::getline(in, line); ++expected) ASSERT_EQ(line, std::to_string(expected));
  EXPECT_EQ(expected, 500);
  EXPECT_EQ(late(), 0U);
}

TEST_F(Worker, LeavesWhatIsYoungerThanTheWindowForALaterTurn) {
  configure("{message}", std::chrono::milliseconds(1));
  stream_driver one(memory, *streams.open(1));
  stream_driver two(memory, *streams.open(2));
  ASSERT_TRUE(one.log("second", ticks_at(5 * ms)));
  worker.turn(at(5 * ms + 900'000));
  EXPECT_EQ(written(), "");
  ASSERT_TRUE(two.log("first", ticks_at(4 * ms)));
  worker.turn(at(7 * ms));
  EXPECT_EQ(written(), "first\nsecond\n");
  EXPECT_EQ(late(), 0U);
}

TEST_F(Worker, WritesALateRecordAndCountsIt) {
  configure();
  stream_driver one(memory, *streams.open(1));
  stream_driver two(memory, *streams.open(2));
  ASSERT_TRUE(one.log("in time", ticks_at(5 * ms)));
  worker.turn(at(6 * ms));
  ASSERT_TRUE(two.log("late", ticks_at(4 * ms)));
  worker.turn(at(7 * ms));
  EXPECT_EQ(written(), "in time\nlate\n");
  EXPECT_EQ(late(), 1U);
}

TEST_F(Worker, KeepsRecordsWithEqualTimesInTheOrderOfTheirThread) {
  configure();
  stream_driver one(memory, *streams.open(1));
  stream_driver two(memory, *streams.open(2));
  std::string expected;
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(one.log("a" + std::to_string(i), ticks_at(ms)));
    ASSERT_TRUE(two.log("b" + std::to_string(i), ticks_at(ms)));
  }
  for (const char thread : {'a', 'b'})
    for (int i = 0; i < 1'000; ++i) expected += thread + std::to_string(i) + "\n";
  worker.turn(at(2 * ms));
  EXPECT_EQ(written(), expected);
}

TEST_F(Worker, HandsABatchOverWhenItsFirstRecordIsAsOldAsTheFlushInterval) {
  configure();
  worker.turn(at(0));
  stream_driver one(memory, *streams.open(1));
  ASSERT_TRUE(one.log("first", ticks_at(10 * ms)));
  worker.turn(at(15 * ms));
  ASSERT_TRUE(one.log("second", ticks_at(28 * ms)));
  worker.turn(at(29 * ms));
  EXPECT_EQ(control->text(), "");
  worker.turn(at(30 * ms + 1'000));
  EXPECT_EQ(control->text(), "first\nsecond\n");
}

TEST_F(Worker, HandsARecordAtTheFlushLevelOverAtOnceWithAllBeforeIt) {
  configure();
  worker.turn(at(0));
  stream_driver one(memory, *streams.open(1));
  ASSERT_TRUE(one.log("info", ticks_at(ms)));
  ASSERT_TRUE(one.log("error", ticks_at(ms + 10), error_site));
  worker.turn(at(2 * ms));
  EXPECT_EQ(control->text(), "info\nerror\n");
}

TEST_F(Worker, WakesAllWhoWaitForMemoryWhenThereIsNothingToBeRead) {
  configure();
  worker.turn(at(0));
  stream_driver one(memory, *streams.open(1));
  ASSERT_TRUE(one.log("a page", ticks_at(0)));
  const transport::exchange::waiter waiting(memory);
  const std::uint32_t at_first = waiting.freed_count();
  worker.turn(at(2 * ms));
  EXPECT_EQ(waiting.freed_count(), at_first) << "nothing was given";
  worker.turn(at(3 * ms));
  EXPECT_GT(waiting.freed_count(), at_first);
}

TEST_F(Worker, DoesNotWaitForAClockThatWasSetBack) {
  configure();
  stream_driver one(memory, *streams.open(1));
  const moment now = worker.now();
  const std::uint64_t hour = worker.clock().ticks_of_ns(3600'000 * ms);
  ASSERT_TRUE(one.log("before the step", now.ticks + hour));
  ASSERT_TRUE(one.log("before the step too", now.ticks + hour));
  ASSERT_TRUE(one.log("after the step", now.ticks));
  worker.turn(worker.now());
  worker.turn(worker.now(), true);
  EXPECT_EQ(written(), "before the step\nbefore the step too\nafter the step\n");
  ASSERT_TRUE(one.log("again", worker.now().ticks));
  worker.turn(worker.now(), true);
  const std::uint64_t late_then = late();
  ASSERT_TRUE(one.log("again", worker.now().ticks));
  worker.turn(worker.now(), true);
  EXPECT_EQ(late(), late_then) << "what comes after the step is not late";
}

TEST_F(Worker, BringsChunksBackWhenTheirBatchIsDone) {
  configure();
  stream_driver one(memory, *streams.open(1));
  const std::string text(1'000, 'x');
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(one.log(text, ticks_at(i)));
  const std::size_t used = memory.used_bytes();
  EXPECT_GT(used, 100'000U);
  control->every_result = {errc::no_space, ENOSPC};
  worker.turn(at(ms));
  EXPECT_EQ(memory.used_bytes(), used) << "nothing is done before the sink has it";
  control->every_result = {};
  for (int i = 1; i < 10; ++i) worker.turn(at(1'000 * i * ms));
  EXPECT_LE(memory.used_bytes(), 2 * transport::page_bytes);
}

TEST_F(Worker, BringsTheChunksOfThreadsThatEndedBack) {
  configure();
  for (int i = 0; i < 500; ++i) {
    transport::thread_stream* stream = streams.open(i);
    stream_driver driver(memory, *stream);
    ASSERT_TRUE(driver.log("short-lived", ticks_at(i)));
    stream->close();
    stream->announce_if_parked();
    worker.turn(at(10 * ms + i));
    ASSERT_TRUE(worker.drain_and_park());
  }
  worker.turn(at(100 * ms));
  worker.turn(at(101 * ms));
  EXPECT_EQ(memory.used_bytes(), 0U);
  EXPECT_EQ(streams.in_use_count(), 0U);
}

TEST_F(Worker, TellsTheLogHowManyRecordsWereDroppedOfWhichLevelsWhyAndWhen) {
  configure();
  worker.turn(at(0));
  transport::thread_stream* stream = streams.open(1);
  stream_driver one(memory, *stream);
  ASSERT_TRUE(one.log("a record", ticks_at(ms)));
  stream->count_dropped(drop_reason::overflow, level::info, ticks_at(2 * ms));
  stream->count_dropped(drop_reason::timeout, level::error, ticks_at(3 * ms));
  worker.note_drop();
  worker.turn(at(4 * ms));
  const std::string text = written();
  EXPECT_NE(text.find("penstock: 2 records dropped (info 1, error 1): the memory budget was spent; the memory budget was spent for "
                      "block_timeout; from "),
            std::string::npos)
      << text;
}

TEST_F(Worker, KeepsTheReportOfDropsUntilTheSinkCanTakeIt) {
  configure();
  worker.turn(at(0));
  transport::thread_stream* stream = streams.open(1);
  control->lends_nothing = true;
  stream->count_dropped(drop_reason::overflow, level::info, ticks_at(2 * ms));
  worker.note_drop();
  for (int i = 0; i < 10; ++i) worker.turn(at((5 + 2'000 * i) * ms));
  EXPECT_EQ(control->text(), "");
  control->lends_nothing = false;
  worker.turn(at(60'000 * ms));
  EXPECT_NE(written().find("1 records dropped (info 1)"), std::string::npos);
}

TEST_F(Worker, SaysInTheLogThatRecordsWereLostOnceTheSinkGoesOn) {
  configure();
  worker.turn(at(0));
  stream_driver one(memory, *streams.open(1));
  control->every_result = {errc::no_space, ENOSPC};
  ASSERT_TRUE(one.log("lost", ticks_at(ms), error_site));
  worker.turn(at(2 * ms));
  EXPECT_EQ(reports.size(), 1U);
  worker.outputs().front()->lose_held();
  control->every_result = {};
  worker.turn(at(3 * ms));
  EXPECT_NE(written().find("penstock: 1 records were lost: sink test: "), std::string::npos) << written();
}

TEST_F(Worker, TellsTheErrorHandlerAtMostOnceASecond) {
  configure();
  worker.turn(at(0));
  stream_driver one(memory, *streams.open(1));
  control->every_result = {errc::no_space, ENOSPC};
  ASSERT_TRUE(one.log("held", ticks_at(ms), error_site));
  for (int i = 0; i < 10'000; ++i) worker.turn(at(ms * i));
  EXPECT_GE(reports.size(), 9U);
  EXPECT_LE(reports.size(), 11U);
}

TEST_F(Worker, NeverGivesALaterRecordOfAThreadAnEarlierTimeConcurrently) {
  configure("{time:%s%N}");
  // Real times: the map is corrected again and again while records come, late ones too.
  stream_driver one(memory, *streams.open(1));
  stream_driver two(memory, *streams.open(2));
  std::int64_t end = worker.now().steady_ns + 300 * ms;
  while (worker.now().steady_ns < end) {
    const std::uint64_t ticks = worker.now().ticks;
    ASSERT_TRUE(one.log("x", ticks - 40'000));
    worker.turn(worker.now());
    ASSERT_TRUE(two.log("x", ticks - 80'000));
    worker.turn(worker.now());
  }
  std::istringstream in(written());
  std::int64_t last[2] = {0, 0};
  int lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    if (line.rfind("penstock", 0) == 0) continue;
    const std::int64_t time = std::stoll(line);
    EXPECT_GE(time, last[lines % 2]);
    last[lines % 2] = time;
  }
  EXPECT_GT(lines, 100);
}

}  // namespace
}  // namespace penstock
