// SPDX-License-Identifier: MIT
// When an output syncs, and what becomes of a sync that fails or takes its time.
#include <gtest/gtest.h>

#include <string>

#include "lib/backend/output.hpp"
#include "tests/backend/text_line.hpp"
#include "tests/support/controlled_sink.hpp"

namespace penstock {
namespace {

using backend::output;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t second = 1'000'000'000;
constexpr detail::call_site site{.source = {"{}", "test.cpp", "test", 1}, .level = level::info};

struct OutputSync : ::testing::Test {
  std::unique_ptr<output> make(sync_policy policy) {
    auto made = std::make_unique<output>(std::make_unique<testing::controlled_sink>(control),
                                         std::make_shared<backend::line_layout>("{message}", control_chars_policy::escape, false),
                                         backend::output_settings{.name = "test", .sync = policy});
    made->begin_epoch(1, second, 0);
    return made;
  }
  static void put(output& out, std::string_view text) {
    ASSERT_TRUE(out.ready());
    out.put(testing::text_line(site, text));
  }
  std::shared_ptr<testing::sink_control> control = std::make_shared<testing::sink_control>();
};

constexpr outcome failure{errc::io, EIO};
constexpr outcome pending{errc::pending, 0};

TEST_F(OutputSync, OfABatchIsAskedForAgainUntilItIsDoneThoughNoOtherBatchComes) {
  auto out = make({.each_batch = true});
  control->syncs = {pending, pending};
  put(*out, "x");
  out->submit();
  EXPECT_EQ(control->sync_count, 1U);
  out->upkeep(second);
  EXPECT_EQ(control->sync_count, 1U) << "not at once";
  std::int64_t now = second;
  for (int turn = 0; turn < 10; ++turn) {
    now = std::max(now, std::min(out->next_due_ns(), now + ms));
    out->upkeep(now);
    now += ms;
  }
  EXPECT_EQ(control->sync_count, 3U);
}

TEST_F(OutputSync, ThatIsDueWaitsWhileTheSinkIsInTrouble) {
  auto out = make({.interval = std::chrono::seconds(1)});
  put(*out, "x");
  out->submit();
  put(*out, "y");
  control->every_result = {errc::no_space, ENOSPC};
  out->submit();
  ASSERT_TRUE(out->in_trouble());
  EXPECT_GT(out->next_due_ns(), second) << "it would be asked without end";
  control->every_result = {};
  out->upkeep(10 * second);
  EXPECT_FALSE(out->in_trouble());
  EXPECT_EQ(control->sync_count, 1U);
}

TEST_F(OutputSync, ThatFailsIsToldOnceToWhoAsksAndToTheLogWhenItWorksAgain) {
  auto out = make({.each_batch = true});
  put(*out, "safe");
  out->submit();
  EXPECT_FALSE(out->take_sync_failure());
  control->syncs = {failure, failure};
  for (const char* text : {"doubtful", "doubtful, too"}) {
    put(*out, text);
    out->submit();
  }
  EXPECT_EQ(out->news().trouble, failure);
  EXPECT_EQ(out->trouble_text(),
            "sink test: Input/output error; what was written since the last sync that worked may not be on the medium");
  EXPECT_FALSE(out->news().synced_again);
  EXPECT_TRUE(out->sync().ok());
  EXPECT_TRUE(out->news().synced_again);
  EXPECT_EQ(
      out->synced_again_text(),
      "sink test: a sync failed (Input/output error) and works again: of the 23 bytes before this line, some may not be on the medium");
  EXPECT_TRUE(out->take_sync_failure());
  EXPECT_FALSE(out->take_sync_failure());
  out->publish();
  EXPECT_EQ(out->stats().errors, 2U);
  EXPECT_EQ(out->stats().lost.total(), 0U);
}

}  // namespace
}  // namespace penstock
