// SPDX-License-Identifier: MIT
// The digits of the second's fraction are kept from line to line: whatever the times, each line has its own.
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "lib/backend/line_layout.hpp"

namespace penstock::backend {
namespace {

constexpr detail::call_site site = {.source = {"{}", "test.cpp", "test", 1}, .level = level::info};

struct LineFrame : ::testing::TestWithParam<const char*> {
  // As an output does: the text before the message is copied, then the digits of this line are put in.
  static std::string before(line_layout& layout, const line_source& line) {
    line_frame& frame = layout.frame(line);
    std::string room(frame.before.copied_bytes(), '#');
    const char* const end = frame.before.copy(room.data());
    frame.patch(room.data(), line.time);
    return {room.data(), static_cast<std::size_t>(end - room.data())};
  }
  static std::string expected(line_layout& layout, const line_source& line) {
    std::string whole;
    layout.compose(whole, line, "");
    whole.pop_back();
    return whole;
  }
  line_source at(wall_ns time, std::uint64_t stream = 1) const {
    return {.site = &site, .body = record_view(site.source, ""), .time = time, .stream = stream};
  }
  line_layout layout{GetParam(), control_chars_policy::escape, false};
  line_layout fresh{GetParam(), control_chars_policy::escape, false};
};

TEST_P(LineFrame, HasTheDigitsOfItsOwnLineWhicheverTimeTheLastOneHad) {
  constexpr wall_ns start = 1'700'000'000'123'456'000;
  for (const wall_ns time :
       {start, start, start + 1, start + 999, start + 1'000, start + 999, start, start - 1, start + 876'543'999, start + 876'544'000, start,
        start - 123'456'000, start - 123'456'001, wall_ns{0}, wall_ns{-1}, wall_ns{-1'000}})
    EXPECT_EQ(before(layout, at(time)), expected(fresh, at(time))) << time;
}

TEST_P(LineFrame, HasThemForTimesThatGoBackAndForthAndForSeveralThreads) {
  std::mt19937_64 random(1);
  wall_ns time = 1'700'000'000'999'990'000;
  for (int i = 0; i < 20'000; ++i) {
    constexpr wall_ns steps[] = {0, 1, 40, 999, 1'000, 1'001, -1, -1'000, 5'000'000, 1'000'000'000};
    time += steps[random() % std::size(steps)];
    const line_source line = at(time, random() % 3);
    ASSERT_EQ(before(layout, line), expected(fresh, line)) << time;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, LineFrame,
    ::testing::Values("{time} {message}", "{time:%H:%M:%S.%f} {time:%S.%N}: {message}", "{time:>40%F %T.%f} {message}", "{level} {message}",
                      "{time} a long beginning of a line that does not fit into one piece of the copy {time} {message}"),
    [](const ::testing::TestParamInfo<const char*>& one) { return "Pattern" + std::to_string(one.index); });

}  // namespace
}  // namespace penstock::backend
