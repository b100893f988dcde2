// SPDX-License-Identifier: MIT
// Every byte of a line is fmt's, whichever thread turns the arguments into text, and however the statement was made.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <random>
#include <set>

#include "tests/engine/running.hpp"

struct user_point {
  int x;
  int y;
};
template <>
struct fmt::formatter<user_point> : fmt::formatter<int> {
  template <class Context>
  auto format(const user_point& point, Context& context) const {
    auto out = fmt::format_to(context.out(), "(");
    context.advance_to(out);
    out = fmt::formatter<int>::format(point.x, context);
    return fmt::format_to(out, "; {})", point.y);
  }
};

struct user_thrower {};
template <>
struct fmt::formatter<user_thrower> : fmt::formatter<int> {
  template <class Context>
  auto format(const user_thrower&, Context& context) const -> decltype(context.out()) {
    throw std::runtime_error("the formatter has had enough");
  }
};

struct user_talker {
  int depth;
};
template <>
struct fmt::formatter<user_talker> : fmt::formatter<int> {
  template <class Context>
  auto format(const user_talker& talker, Context& context) const -> decltype(context.out()) {
    PENSTOCK_INFO("said while formatting {}", talker.depth);
    if (talker.depth > 0) PENSTOCK_INFO("nested {}", user_talker{talker.depth - 1});
    return fmt::format_to(context.out(), "talker {}", talker.depth);
  }
};

namespace penstock {
namespace {

struct FormatModes : testing::Running, ::testing::WithParamInterface<format_mode> {
  config in_mode(const std::string& type = "write") {
    config made = settings(type);
    made.backend.format = GetParam();
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(
    Each, FormatModes, ::testing::Values(format_mode::caller, format_mode::backend, format_mode::automatic), [](const auto& mode) {
      return std::string(mode.param == format_mode::caller ? "Caller" : mode.param == format_mode::backend ? "Backend" : "Auto");
    });

#define BOTH(text, ...)                                      \
  do {                                                       \
    PENSTOCK_INFO(text, __VA_ARGS__);                        \
    expected.push_back(fmt::format(text, __VA_ARGS__));      \
    penstock::info(text, __VA_ARGS__);                       \
    expected.push_back(fmt::format(text, __VA_ARGS__));      \
    penstock::info(runtime(std::string(text)), __VA_ARGS__); \
    expected.push_back(fmt::format(text, __VA_ARGS__));      \
  } while (false)

TEST_P(FormatModes, WriteTheBytesOfFmtForEveryKindOfArgumentFreelyMixed) {
  start(in_mode());
  std::vector<std::string> expected;
  std::mt19937_64 random(4711);
  for (int i = 0; i < 700; ++i) {
    const auto number = static_cast<std::int64_t>(random() >> (random() % 64));
    const double real = std::bit_cast<double>(random());
    const double small = static_cast<double>(static_cast<std::int64_t>(random())) / 1e15;
    std::string words(random() % 300, 'x');
    for (char& c : words) c = static_cast<char>('!' + random() % 90);
    BOTH("{} {:>12} {:#x}", number, number, number);
    BOTH("{:.3f}|{:e}|{}", small, small, real);
    BOTH("{:<20}|{:^9.5}|{}", words, words, words.c_str());
    BOTH("{} {:d} {}", number % 2 == 0, number % 3 == 0, static_cast<char>('a' + i % 26));
    BOTH("{1} {0} {1}", i, words);
    BOTH("{}", user_point{i, -i});
    BOTH("{:5} and {}", user_point{i, i}, std::string_view(words));
    BOTH("{}", std::vector<int>{i, i + 1, i + 2});
    BOTH("{:*^{}}", i, 10 + i % 20);
    BOTH("{{}} {}", reinterpret_cast<const void*>(static_cast<std::uintptr_t>(number)));
  }
  ASSERT_TRUE(flush());
  EXPECT_EQ(testing::lines_of(text()), expected);
  testing::expect_sums(stats());
}

TEST_P(FormatModes, ShowNoneOfTheInternalSizes) {
  start(in_mode());
  std::vector<std::string> expected;
  const std::string source(2'100, 'q');
  for (std::size_t bytes = 1; bytes <= 2'100; ++bytes) {
    const std::string_view part(source.data(), bytes);
    PENSTOCK_INFO("{}", part);
    PENSTOCK_INFO("{} {}", part, user_point{1, 2});
    expected.push_back(std::string(part));
    expected.push_back(std::string(part) + " (1; 2)");
  }
  ASSERT_TRUE(flush());
  EXPECT_EQ(testing::lines_of(text()), expected);
}

TEST_P(FormatModes, SayWhenAFormatterThrowsAndGoOn) {
  start(in_mode());
  for (int i = 0; i < 100; ++i) {
    PENSTOCK_INFO("good {}", i);
    PENSTOCK_INFO("bad {} {}", i, user_thrower{});
    info(runtime("{:d} and {"), "no number");
    info(runtime("{} {}"), i);
  }
  PENSTOCK_INFO("null {}", static_cast<const char*>(nullptr));
  ASSERT_TRUE(flush());
  const auto lines = testing::lines_of(text());
  ASSERT_EQ(lines.size(), 401U);
  for (std::size_t i = 0; i < 400; i += 4) {
    EXPECT_EQ(lines[i], "good " + std::to_string(i / 4));
    EXPECT_NE(lines[i + 1].find("bad {} {}"), std::string::npos) << lines[i + 1];
    EXPECT_NE(lines[i + 1].find("the formatter has had enough"), std::string::npos);
    EXPECT_NE(lines[i + 1].find("format_modes_test.cpp"), std::string::npos);
    EXPECT_NE(lines[i + 2].find("{:d} and {"), std::string::npos);
    EXPECT_NE(lines[i + 3].find("{} {}"), std::string::npos);
    EXPECT_NE(lines[i + 3].find("error"), std::string::npos);
  }
}

TEST_P(FormatModes, LetAFormatterLogItself) {
  start(in_mode());
  for (int i = 0; i < 50; ++i) PENSTOCK_INFO("outer {}", user_talker{3});
  ASSERT_TRUE(stop());
  std::map<std::string, int> count;
  for (const std::string& line : testing::lines_of(text())) ++count[line];
  EXPECT_EQ(count["outer talker 3"], 50);
  EXPECT_EQ(count["nested talker 0"], 50);
  EXPECT_EQ(count["said while formatting 3"], 50);
  EXPECT_EQ(count["said while formatting 0"], 50);
  testing::expect_sums(stats());
}

TEST_P(FormatModes, CopyWhatMayDangle) {
  control = testing::register_controlled_sink();
  config made = in_mode("controlled");
  start(made);
  control->stall();
  PENSTOCK_ERROR("first");
  control->await_stall();
  std::vector<std::string> expected{"first"};
  for (int i = 0; i < 100; ++i) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "buffer %d", i);
    auto text = std::make_unique<std::string>("a string that is too long for the small buffer " + std::to_string(i));
    const std::string_view view(*text);
    PENSTOCK_INFO("{} {} {} {}", buffer, *text, view.substr(2), text->c_str());
    expected.push_back(fmt::format("{} {} {} {}", buffer, *text, view.substr(2), text->c_str()));
    std::string run_time = "run time {}";
    info(runtime(run_time), view);
    expected.push_back("run time " + *text);
    std::fill(text->begin(), text->end(), '#');
    std::fill(run_time.begin(), run_time.end(), '#');
    std::memset(buffer, '#', sizeof buffer);
  }
  control->let_go();
  ASSERT_TRUE(flush());
  EXPECT_EQ(testing::lines_of(control->text()), expected);
}

TEST_P(FormatModes, KeepTextWithControlCharactersOnItsLineAndTheSameWithAndWithoutArguments) {
  start(in_mode());
  PENSTOCK_INFO("t\tab, \xe4\xb8\xad\xe6\x96\x87");
  PENSTOCK_INFO("t\tab, {}", "\xe4\xb8\xad\xe6\x96\x87");
  PENSTOCK_INFO("{}", "t\tab, \xe4\xb8\xad\xe6\x96\x87");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  PENSTOCK_INFO("{}", all);
  PENSTOCK_INFO("{}", std::string_view("a\0b", 3));
  PENSTOCK_INFO("forged\n2026-01-01 error\r\x1b[0m \xc2\x85 {}", 1);
  ASSERT_TRUE(flush());
  const auto lines = testing::lines_of(text());
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "t\tab, \xe4\xb8\xad\xe6\x96\x87");
  EXPECT_EQ(lines[1], lines[0]);
  EXPECT_EQ(lines[2], lines[0]);
  EXPECT_EQ(lines[4], "a\\x00b");
  EXPECT_EQ(lines[5], "forged\\n2026-01-01 error\\r\\x1b[0m \\u0085 1");
  for (const std::string& line : lines)
    for (const char c : line) EXPECT_TRUE(static_cast<unsigned char>(c) >= 0x20 || c == '\t');
}

}  // namespace
}  // namespace penstock
