// SPDX-License-Identifier: MIT
#include "lib/backend/output.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/backend/text_line.hpp"
#include "tests/support/controlled_sink.hpp"

namespace penstock {
namespace {

using backend::output;
using testing::sink_control;

constexpr std::int64_t ms = 1'000'000;
constexpr std::int64_t second = 1'000'000'000;
constexpr detail::call_site site_of(level l) { return {.source = {"{}", "test.cpp", "test", 1}, .level = l}; }
constexpr detail::call_site info_site = site_of(level::info);
constexpr detail::call_site error_site = site_of(level::error);

struct Output : ::testing::Test {
  std::unique_ptr<output> make(std::string_view pattern = "{message}", control_chars_policy chars = control_chars_policy::escape) {
    auto made =
        std::make_unique<output>(std::make_unique<testing::controlled_sink>(control),
                                 std::make_shared<backend::line_layout>(pattern, chars, false), backend::output_settings{.name = "test"});
    made->begin_epoch(1, second, 0);
    return made;
  }

  static bool put(output& out, std::string_view text, const detail::call_site& site = info_site, std::int64_t time = 0) {
    if (!out.ready()) return false;
    out.put(testing::text_line(site, text, time));
    return true;
  }

  static sink_stats ledger(output& out) {
    out.publish();
    sink_stats now = out.stats();
    EXPECT_EQ(now.taken.total(), now.written.total() + now.lost.total() + now.held.total());
    for (std::size_t i = 0; i < level_count; ++i) EXPECT_EQ(now.taken.at[i], now.written.at[i] + now.lost.at[i] + now.held.at[i]);
    return now;
  }

  std::shared_ptr<sink_control> control = std::make_shared<sink_control>();
};

TEST_F(Output, FillsPagesToTheLastByteAndGoesOnWithTheLineInTheNextBatch) {
  auto out = make();
  std::string expected;
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = std::to_string(i) + std::string(static_cast<std::size_t>(i * 7 % 300), 'x');
    ASSERT_TRUE(put(*out, text));
    expected += text + "\n";
  }
  EXPECT_TRUE(out->flush().ok());
  EXPECT_EQ(control->text(), expected);
  for (std::size_t i = 0; i + 1 < control->batches.size(); ++i) ASSERT_EQ(control->batches[i], 4096U) << "batch " << i;
  EXPECT_EQ(ledger(*out).written.total(), 3'000U);
}

TEST_F(Output, HandsOverARoomThatALineEndsInExactly) {
  // Both parts of the frame are whole pieces, so that nothing is left over.
  auto out = make("{message} 012345678901234567890123456789");
  std::string expected;
  for (int i = 0; i < 200; ++i) {
    const std::string text = std::to_string(1'000 + i) + std::string(28, 'x');
    ASSERT_TRUE(put(*out, text));
    expected += text + " 012345678901234567890123456789\n";
  }
  EXPECT_TRUE(out->flush().ok());
  EXPECT_EQ(control->text(), expected);
  EXPECT_EQ(ledger(*out).written.total(), 200U);
}

TEST_F(Output, PassesOnWhatTheSinkSaysOfItself) {
  const sink_stats now = make()->stats();
  EXPECT_EQ(now.name, "test");
  EXPECT_EQ(now.type, "controlled");
  EXPECT_EQ(now.fallback, "");
  EXPECT_EQ(now.note, "does as it is told");
}

TEST_F(Output, EndsABatchOfLinesAfterAWholeLine) {
  control->end = cut::lines;
  auto out = make();
  std::string expected;
  for (int i = 0; i < 3'000; ++i) {
    const std::string text = std::to_string(i) + std::string(static_cast<std::size_t>(i * 13 % 700), 'x');
    ASSERT_TRUE(put(*out, text));
    expected += text + "\n";
  }
  EXPECT_TRUE(out->flush().ok());
  EXPECT_EQ(control->text(), expected);
  std::size_t end = 0;
  for (const std::size_t bytes : control->batches) {
    end += bytes;
    ASSERT_EQ(expected[end - 1], '\n') << "a batch ends inside a line, at byte " << end;
  }
}

TEST_F(Output, DividesALineThatIsLongerThanABatchAndNoOther) {
  for (const cut end : {cut::pages, cut::lines}) {
    control = std::make_shared<sink_control>();
    control->end = end;
    auto out = make();
    std::string expected;
    for (const std::size_t bytes : {1UL, 4094UL, 4095UL, 4096UL, 4097UL, 8191UL, 8192UL, 100'000UL, 5UL, 0UL, 12'287UL, 3UL}) {
      const std::string text(bytes, static_cast<char>('a' + bytes % 26));
      ASSERT_TRUE(put(*out, text));
      expected += text + "\n";
    }
    EXPECT_TRUE(out->flush().ok());
    EXPECT_EQ(control->text(), expected);
    EXPECT_EQ(ledger(*out).written.total(), 12U);
    EXPECT_FALSE(out->holds_anything());
  }
}

TEST_F(Output, KeepsTheRestOfALineThatFindsNoRoomUntilThereIsSome) {
  auto out = make();
  ASSERT_TRUE(put(*out, std::string(4'000, 'a')));
  control->results = {{errc::no_space, ENOSPC}};
  ASSERT_TRUE(put(*out, std::string(10'000, 'b')));
  EXPECT_TRUE(out->in_trouble());
  EXPECT_FALSE(put(*out, "c")) << "nothing may be laid out while the sink holds a batch";
  EXPECT_EQ(ledger(*out).held.total(), 2U);
  out->begin_epoch(2, 2 * second, 0);
  out->upkeep(2 * second);
  EXPECT_FALSE(out->in_trouble());
  ASSERT_TRUE(put(*out, "c"));
  EXPECT_TRUE(out->flush().ok());
  EXPECT_EQ(control->text(), std::string(4'000, 'a') + "\n" + std::string(10'000, 'b') + "\nc\n");
  EXPECT_EQ(ledger(*out).written.total(), 3U);
}

TEST_F(Output, CountsExactlyWhatASinkTookToItsGrave) {
  auto out = make();
  ASSERT_TRUE(put(*out, "written"));
  EXPECT_TRUE(out->flush().ok());
  control->every_result = {errc::closed, EPIPE};
  ASSERT_TRUE(put(*out, "lost", error_site));
  ASSERT_TRUE(put(*out, "lost"));
  out->submit();
  EXPECT_TRUE(out->disabled());
  ASSERT_TRUE(put(*out, "lost too")) << "a disabled sink takes lines and counts them as lost";
  const sink_stats now = ledger(*out);
  EXPECT_EQ(now.written.total(), 1U);
  EXPECT_EQ(now.lost[level::info], 2U);
  EXPECT_EQ(now.lost[level::error], 1U);
  EXPECT_EQ(control->text(), "written\n");
  EXPECT_EQ(now.bytes, 8U);
}

// As after stop(): the sink goes on.
TEST_F(Output, CountsTheBytesThatAreWrittenAlsoAfterItGaveSomeUp) {
  auto out = make();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(put(*out, "written"));
    EXPECT_TRUE(out->flush().ok());
    control->results = {{errc::no_space, ENOSPC}};
    ASSERT_TRUE(put(*out, "lost"));
    out->submit();
    out->lose_held();
    EXPECT_FALSE(out->disabled());
    EXPECT_EQ(ledger(*out).bytes, control->text().size());
  }
  EXPECT_EQ(control->text(), "written\nwritten\nwritten\n");
  EXPECT_EQ(ledger(*out).lost.total(), 3U);
}

TEST_F(Output, CountsALineThatWasBeingLaidOutWhenTheSinkDied) {
  for (const std::size_t bytes : {5'000UL, 20'000UL}) {
    control = std::make_shared<sink_control>();
    auto out = make();
    ASSERT_TRUE(put(*out, "before"));
    control->every_result = {errc::closed, EPIPE};
    ASSERT_TRUE(put(*out, std::string(bytes, 'x')));
    EXPECT_TRUE(out->disabled());
    EXPECT_EQ(ledger(*out).lost.total(), 2U);
    EXPECT_FALSE(out->holds_anything());
  }
}

TEST_F(Output, GivesUpADeviceThatKeepsRefusingButWaitsForSpaceForEver) {
  auto refused = make();
  control->every_result = {errc::io, EIO};
  ASSERT_TRUE(put(*refused, "x"));
  refused->submit();
  std::int64_t now = second;
  for (int i = 0; i < 20 && !refused->disabled(); ++i) {
    now += second;
    refused->begin_epoch(2, now, 0);
    refused->upkeep(now);
  }
  EXPECT_TRUE(refused->disabled());
  EXPECT_EQ(ledger(*refused).lost.total(), 1U);

  control = std::make_shared<sink_control>();
  auto full = make();
  control->every_result = {errc::no_space, ENOSPC};
  ASSERT_TRUE(put(*full, "x"));
  full->submit();
  for (int i = 0; i < 1'000; ++i) {
    now += second;
    full->begin_epoch(2, now, 0);
    full->upkeep(now);
  }
  EXPECT_FALSE(full->disabled());
  EXPECT_EQ(ledger(*full).held.total(), 1U);
  control->every_result = {};
  full->upkeep(now + second);
  EXPECT_EQ(control->text(), "x\n");
  EXPECT_EQ(ledger(*full).written.total(), 1U);
}

TEST_F(Output, GivesUpADeviceThatRefusesLate) {
  control->late_results = true;
  control->every_result = {errc::io, EIO};
  auto out = make();
  ASSERT_TRUE(put(*out, "x"));
  out->submit();
  EXPECT_FALSE(out->in_trouble()) << "nothing is known yet";
  std::int64_t now = second;
  for (int i = 0; i < 40 && !out->disabled(); ++i) {
    now += second;
    out->begin_epoch(2, now, 0);
    out->upkeep(now);
    EXPECT_EQ(ledger(*out).written.total(), 0U);
  }
  EXPECT_TRUE(out->disabled());
  EXPECT_EQ(ledger(*out).lost.total(), 1U);
  EXPECT_EQ(ledger(*out).errors, 10U);
}

TEST_F(Output, DoesNotCountAnAttemptThatIsStillUnderWay) {
  auto out = make();
  ASSERT_TRUE(put(*out, "x"));
  control->results.push_back({errc::io, EIO});
  for (int i = 0; i < 100; ++i) control->results.push_back({errc::pending, 0});
  out->submit();
  std::int64_t now = second;
  for (int i = 0; i < 100; ++i) {
    now += second;
    out->begin_epoch(2, now, 0);
    out->upkeep(now);
    ASSERT_TRUE(out->in_trouble()) << i;
  }
  EXPECT_EQ(ledger(*out).errors, 1U);
  out->upkeep(now + second);
  EXPECT_FALSE(out->in_trouble());
  EXPECT_EQ(ledger(*out).written.total(), 1U);
}

TEST_F(Output, ForgetsRefusalsOnceSomethingIsWritten) {
  for (const bool late : {false, true}) {
    control = std::make_shared<sink_control>();
    control->late_results = late;
    auto out = make();
    std::int64_t now = second;
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(put(*out, "x")) << i;
      for (int refusal = 0; refusal < 9; ++refusal) control->results.push_back({errc::io, EIO});
      out->submit();
      for (int turn = 0; turn < 40; ++turn) {
        now += second;
        out->begin_epoch(2, now, 0);
        out->upkeep(now);
      }
      ASSERT_FALSE(out->disabled()) << i;
      ASSERT_EQ(ledger(*out).written.total(), static_cast<std::uint64_t>(i) + 1);
    }
  }
}

TEST_F(Output, DoesNotCountWhatADiskWasFullAgainstTheDevice) {
  auto out = make();
  ASSERT_TRUE(put(*out, "x"));
  for (int i = 0; i < 100; ++i) control->results.push_back({errc::no_space, ENOSPC});
  control->results.push_back({errc::io, EIO});
  out->submit();
  std::int64_t now = second;
  for (int i = 0; i < 110; ++i) {
    now += second;
    out->begin_epoch(2, now, 0);
    out->upkeep(now);
  }
  EXPECT_FALSE(out->disabled());
  EXPECT_EQ(ledger(*out).written.total(), 1U);
}

TEST_F(Output, IsDueWhenItsFirstRecordNotItsFirstLineIsOldEnough) {
  auto out = make();
  out->upkeep(second);
  // The record is 15 ms old when its line is laid out at 1 s; the interval is 20 ms.
  out->begin_epoch(1, second, 500 * ms);
  ASSERT_TRUE(put(*out, "first", info_site, 485 * ms));
  ASSERT_TRUE(put(*out, "second", info_site, 499 * ms));
  EXPECT_EQ(out->next_due_ns(), second + 5 * ms);
  out->upkeep(second + 4 * ms);
  EXPECT_EQ(control->text(), "");
  out->upkeep(second + 5 * ms);
  EXPECT_EQ(control->text(), "first\nsecond\n");
}

TEST_F(Output, IsUrgentOnceALineReachesTheFlushLevel) {
  auto out = make();
  ASSERT_TRUE(put(*out, "info"));
  EXPECT_FALSE(out->urgent());
  ASSERT_TRUE(put(*out, "error", error_site));
  EXPECT_TRUE(out->urgent());
  out->submit();
  EXPECT_FALSE(out->urgent());
}

TEST_F(Output, LetsGoOfTheEpochsWhoseLinesAreDoneWhileLaterOnesAreInFlight) {
  auto out = make();
  for (std::uint64_t epoch = 1; epoch <= 5; ++epoch) {
    out->begin_epoch(epoch, second, 0);
    ASSERT_TRUE(put(*out, std::string(1'000, 'x')));
    control->in_flight = epoch >= 4 ? 1'001 * (epoch - 3) : 0;
    out->submit();
  }
  // The lines of epochs 1 to 3 are written, those of 4 and 5 in flight.
  EXPECT_EQ(out->oldest_open_epoch(), 4U);
  control->in_flight = 0;
  EXPECT_TRUE(out->flush().ok());
  EXPECT_EQ(out->oldest_open_epoch(), ~std::uint64_t{0});
}

TEST_F(Output, LooksAfterItsFileOnceASecondHoweverOftenLinesCome) {
  auto out = make();
  std::int64_t now = second;
  for (int i = 0; i < 5'000; ++i) {
    now += ms;
    out->begin_epoch(static_cast<std::uint64_t>(i + 2), now, now);
    ASSERT_TRUE(put(*out, "x", info_site, now));
    out->upkeep(now);
  }
  EXPECT_GE(control->maintained_count, 4U);
  EXPECT_LE(control->maintained_count, 7U);
}

TEST_F(Output, LooksAfterItsFileAlsoWhenALineComesNowAndThen) {
  auto out = make();
  std::int64_t now = second;
  for (int i = 0; i < 5; ++i) {
    now += 10 * second;
    out->begin_epoch(static_cast<std::uint64_t>(i + 2), now, now);
    ASSERT_TRUE(put(*out, "x", info_site, now));
    out->upkeep(now);
    now += 20 * ms;
    out->upkeep(now);
  }
  EXPECT_GE(control->maintained_count, 4U) << "a file that was moved would never be noticed";
}

TEST_F(Output, EscapesWhatDoesNotBelongInALineHoweverItIsLaidOut) {
  for (const std::string_view pattern : {"{message}", "<{message:>30}>", "{message} {message}"}) {
    control = std::make_shared<sink_control>();
    auto out = make(pattern);
    ASSERT_TRUE(put(*out, std::string_view("a\0b\nc\x1b[31m\xff\xe2\x80\xa8 \t\xc3\xa9", 19)));
    EXPECT_TRUE(out->flush().ok());
    const std::string text = control->text();
    EXPECT_NE(text.find("a\\x00b\\nc\\x1b[31m\\xff\\u2028 \t\xc3\xa9"), std::string::npos) << text;
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  }
  control = std::make_shared<sink_control>();
  auto raw = make("{message}", control_chars_policy::raw);
  ASSERT_TRUE(put(*raw, std::string_view("a\0b\xff", 4)));
  EXPECT_TRUE(raw->flush().ok());
  EXPECT_EQ(control->text(), std::string("a\0b\xff\n", 5));
}

TEST_F(Output, WritesWhatASinkThatDiedLaterHadTaken) {
  auto out = make();
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(put(*out, "line"));
  control->every_result = {errc::closed, EPIPE};
  out->abandon();
  const sink_stats now = ledger(*out);
  EXPECT_EQ(now.written.total() + now.lost.total(), 10'000U);
  const std::string text = control->text();
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')), now.written.total());
  EXPECT_EQ(now.bytes, text.size());
}

}  // namespace
}  // namespace penstock
