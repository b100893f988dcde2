// SPDX-License-Identifier: MIT
// Sinks whose lines are the same share the work: each record is laid out once, and every one of them gets the same bytes as it would alone.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "lib/backend/output.hpp"
#include "tests/backend/text_line.hpp"
#include "tests/support/controlled_sink.hpp"

namespace penstock {
namespace {

using backend::output;
using testing::sink_control;

constexpr std::int64_t second = 1'000'000'000;

int laid_out_count = 0;

// The arguments are the text itself, with its length in front.
void counting_layout(const std::byte* arguments, const source_facts&, detail::text_out& out) {
  ++laid_out_count;
  std::uint32_t bytes = 0;
  std::memcpy(&bytes, arguments, sizeof bytes);
  std::memcpy(out.room(bytes), arguments + sizeof bytes, bytes);
  out.pos += bytes;
}
constexpr detail::call_site site = {
    .source = {"{}", "test.cpp", "test", 1}, .layout = &counting_layout, .level = level::info, .flags = detail::site_plain};

struct destination {
  std::shared_ptr<sink_control> control = std::make_shared<sink_control>();
  std::unique_ptr<output> out;

  destination(const std::shared_ptr<backend::line_layout>& layout, cut end, std::size_t room_bytes) {
    control->end = end;
    control->room_bytes = room_bytes;
    out = std::make_unique<output>(std::make_unique<testing::controlled_sink>(control), layout, backend::output_settings{.name = "test"});
    out->begin_epoch(1, second, 0);
  }
  std::string text() const {
    EXPECT_TRUE(out->flush().ok());
    return control->text();
  }
};

struct SharedLayout : ::testing::TestWithParam<const char*> {
  SharedLayout() { laid_out_count = 0; }

  static std::string message(int i) {
    switch (i % 7) {
      case 0:
        return "tab\tand newline\nescaped " + std::to_string(i);
      case 1:
        return std::string(static_cast<std::size_t>(i * 37 % 6'000), 'x');
      case 2:
        return "\xff not UTF-8";
      default:
        return std::to_string(i) + std::string(static_cast<std::size_t>(i * 7 % 90), 'y');
    }
  }

  // The same records to all; returns how often a record was laid out.
  static int put_all(const std::vector<destination*>& to, int count) {
    const int before = laid_out_count;
    for (int i = 0; i < count; ++i) {
      const std::string text = message(i);
      std::string arguments(sizeof(std::uint32_t), '\0');
      const auto bytes = static_cast<std::uint32_t>(text.size());
      std::memcpy(arguments.data(), &bytes, sizeof bytes);
      const bool is_text = i % 5 == 0;
      backend::line_source line = testing::text_line(site, is_text ? text : arguments += text, i * second / 10);
      line.number = ++number;
      line.is_text = is_text;
      laid_out_count += is_text ? 1 : 0;
      for (destination* each : to) {
        EXPECT_TRUE(each->out->ready());
        each->out->put(line);
      }
    }
    return laid_out_count - before;
  }

  static inline std::uint64_t number = 0;
};
INSTANTIATE_TEST_SUITE_P(Each, SharedLayout,
                         ::testing::Values("{message}", "{time} {level} {message}", "{time} {message} [{logger}] 0123456789012345678",
                                           "{message} {message:>40}|{time}"));

TEST_P(SharedLayout, GivesEachSinkTheBytesThatItWouldHaveAlone) {
  backend::layout_set layouts;
  const auto shared = [&] { return layouts.layout_of(GetParam(), control_chars_policy::escape, false); };
  const auto own = [&] { return std::make_shared<backend::line_layout>(GetParam(), control_chars_policy::escape, false); };
  destination alone(own(), cut::pages, 4096);
  destination pages(shared(), cut::pages, 4096);
  destination lines(shared(), cut::lines, 4096);
  destination small(shared(), cut::pages, 512);
  destination large(shared(), cut::lines, 65536);
  constexpr int count = 3'000;
  EXPECT_EQ(put_all({&pages, &lines, &small, &large}, count), count);
  put_all({&alone}, count);
  const std::string expected = alone.text();
  EXPECT_EQ(pages.text(), expected);
  EXPECT_EQ(lines.text(), expected);
  EXPECT_EQ(small.text(), expected);
  EXPECT_EQ(large.text(), expected);
}

TEST_P(SharedLayout, IsNotShortenedByASinkThatTakesNothing) {
  backend::layout_set layouts;
  const auto shared = [&] { return layouts.layout_of(GetParam(), control_chars_policy::escape, false); };
  destination dead(shared(), cut::pages, 4096);
  destination alive(shared(), cut::pages, 4096);
  destination stuck(shared(), cut::lines, 4096);
  dead.control->every_result = {errc::closed, EPIPE};
  put_all({&dead}, 100);
  dead.out->submit();
  ASSERT_TRUE(dead.out->disabled());
  put_all({&dead, &stuck, &alive}, 30);
  stuck.control->results = {{errc::no_space, ENOSPC}};
  stuck.out->submit();
  ASSERT_TRUE(stuck.out->in_trouble());
  stuck.out->begin_epoch(2, 2 * second, 0);
  stuck.out->upkeep(2 * second);
  EXPECT_EQ(put_all({&dead, &stuck, &alive}, 500), 500);
  EXPECT_EQ(stuck.text(), alive.text());
}

TEST(LayoutSet, GivesALayoutToThoseOnlyWhoseLinesAreTheSame) {
  backend::layout_set layouts;
  const auto first = layouts.layout_of("{message}", control_chars_policy::escape, false);
  EXPECT_FALSE(first->shared());
  EXPECT_NE(layouts.layout_of("{level} {message}", control_chars_policy::escape, false), first);
  EXPECT_NE(layouts.layout_of("{message}", control_chars_policy::raw, false), first);
  EXPECT_NE(layouts.layout_of("{message}", control_chars_policy::escape, true), first);
  EXPECT_FALSE(first->shared());
  EXPECT_EQ(layouts.layout_of("{message}", control_chars_policy::escape, false), first);
  EXPECT_TRUE(first->shared());
}

}  // namespace
}  // namespace penstock
