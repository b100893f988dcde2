// SPDX-License-Identifier: MIT
// What an output tells a sink that divides by size or time, and what it does about the room that it gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/output.hpp"
#include "tests/backend/text_line.hpp"

namespace penstock {
namespace {

using backend::output;
using std::chrono::system_clock;
using ::testing::ElementsAre;

constexpr detail::call_site site{.source = {"{}", "test.cpp", "test", 1}, .level = level::info};

/// What the sink is asked and given.
struct record_of_calls {
  std::size_t small_bytes = 0;  ///< room for a line of unknown length
  std::size_t large_bytes = 64;
  std::int64_t until = 0;  ///< 0: none
  std::vector<std::size_t> asked_bytes{};
  std::vector<std::int64_t> asked_times{};
  std::vector<std::string> batches{};
};

class dividing_sink final : public sink {
 public:
  explicit dividing_sink(record_of_calls& calls) : calls_(calls), memory_(1024) {}

  batch lend(lend_request request) noexcept override {
    calls_.asked_bytes.push_back(request.line_bytes);
    calls_.asked_times.push_back(std::chrono::nanoseconds(request.line_time.time_since_epoch()).count());
    const std::size_t bytes = request.line_bytes == 0 && calls_.small_bytes != 0 ? calls_.small_bytes : calls_.large_bytes;
    batch lent{.room = std::span(memory_).first(bytes), .end = cut::lines};
    if (calls_.until != 0) lent.until = system_clock::time_point(std::chrono::nanoseconds(calls_.until));
    return lent;
  }
  outcome submit(std::size_t used_bytes) noexcept override {
    calls_.batches.emplace_back(reinterpret_cast<const char*>(memory_.data()), used_bytes);
    return {};
  }
  outcome resume() noexcept override { return {}; }
  std::size_t abandon() noexcept override { return 0; }
  outcome flush() noexcept override { return {}; }
  outcome sync() noexcept override { return {}; }
  outcome reopen() noexcept override { return {}; }

 private:
  record_of_calls& calls_;
  std::vector<std::byte> memory_;
};

class OutputRoom : public ::testing::Test {
 protected:
  void SetUp() override {
    out = std::make_unique<output>(std::make_unique<dividing_sink>(calls),
                                   std::make_shared<backend::line_layout>("{message}", control_chars_policy::raw, false),
                                   backend::output_settings{.name = "test"});
    out->begin_epoch(1, 1'000'000'000, 0);
  }
  bool put(std::string_view text, std::int64_t time = 0) {
    if (!out->ready(time)) return false;
    out->put(testing::text_line(site, text, time));
    return true;
  }
  record_of_calls calls;
  std::unique_ptr<output> out;
};

TEST_F(OutputRoom, IsAskedForAgainWithItsLengthForALineThatDoesNotFitThoughNothingIsThereYet) {
  calls.small_bytes = 4;
  ASSERT_TRUE(put("0123456789"));
  ASSERT_TRUE(out->flush().ok());
  EXPECT_THAT(calls.asked_bytes, ElementsAre(0, 11));
  EXPECT_THAT(calls.batches, ElementsAre("0123456789\n"));
}

TEST_F(OutputRoom, IsHandedOverBeforeALineThatDoesNotFit) {
  calls.large_bytes = 16;
  ASSERT_TRUE(put("0123456789"));
  ASSERT_TRUE(put("0123456789"));
  ASSERT_TRUE(out->flush().ok());
  EXPECT_THAT(calls.batches, ElementsAre("0123456789\n", "0123456789\n"));
}

TEST_F(OutputRoom, TakesALineThatIsLongerThanAnyRoomInParts) {
  calls.large_bytes = 8;
  ASSERT_TRUE(put("0123456789abcdef"));
  ASSERT_TRUE(out->flush().ok());
  EXPECT_THAT(calls.batches, ElementsAre("01234567", "89abcdef", "\n"));
}

TEST_F(OutputRoom, IsHandedOverWhereTheSinkWantsLinesOfALaterTimeToGoElsewhere) {
  calls.until = 5'000;
  ASSERT_TRUE(put("a", 4'000));
  ASSERT_TRUE(put("b", 4'999));
  calls.until = 9'000;
  ASSERT_TRUE(put("c", 5'000));
  ASSERT_TRUE(put("d", 4'500)) << "late, but where it belongs is closed";
  ASSERT_TRUE(out->flush().ok());
  EXPECT_THAT(calls.batches, ElementsAre("a\nb\n", "c\nd\n"));
  EXPECT_THAT(calls.asked_times, ElementsAre(4'000, 5'000));
}

TEST_F(OutputRoom, IsAskedForOnceWhereTheTimeIsOverBeforeAnythingIsThere) {
  calls.until = 5'000;
  ASSERT_TRUE(out->ready(4'000));
  calls.until = 9'000;
  ASSERT_TRUE(put("a", 6'000));
  ASSERT_TRUE(out->flush().ok());
  EXPECT_THAT(calls.batches, ElementsAre("a\n"));
  EXPECT_THAT(calls.asked_times, ElementsAre(4'000, 6'000));
}

}  // namespace
}  // namespace penstock
