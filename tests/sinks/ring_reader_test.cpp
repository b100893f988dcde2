// SPDX-License-Identifier: MIT
#include "sinks/ring_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cstring>

#include "tests/sinks/backend_double.hpp"
#include "tests/sinks/ring_support.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::testing {
namespace {

using sinks::make_mmap_ring_sink;
using sinks::ring_reader;

TEST(RingReader, GoesOnWithWhatIsCommittedLater) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  backend_double backend(*ring);
  ring_reader reader(folder / "ring");
  std::string text;
  EXPECT_FALSE(reader.read(text));
  ASSERT_TRUE(backend.line_now("one\ntw").ok());
  EXPECT_EQ(lines_in(reader), "one\n");
  EXPECT_EQ(reader.unfinished_bytes(), 2U);
  ASSERT_TRUE(backend.line_now("o\n").ok());
  EXPECT_EQ(lines_in(reader), "two\n");
  EXPECT_EQ(reader.unfinished_bytes(), 0U);
}

TEST(RingReader, GoesOnOverARestartOfTheWriter) {
  const temp_folder folder;
  auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  ASSERT_TRUE(backend_double(*ring).line_now("one\n").ok());
  ring_reader reader(folder / "ring");
  EXPECT_EQ(lines_in(reader), "one\n");
  EXPECT_TRUE(reader.owner_lives());
  ring.reset();
  EXPECT_FALSE(reader.owner_lives());
  ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  ASSERT_TRUE(backend_double(*ring).line_now("two\n").ok());
  EXPECT_EQ(lines_in(reader), "two\n");
  EXPECT_FALSE(reader.replaced());
}

TEST(RingReader, NoticesThatThePathNamesAnotherFile) {
  const temp_folder folder;
  auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  const ring_reader reader(folder / "ring");
  std::filesystem::remove(folder / "ring");
  EXPECT_FALSE(reader.replaced()) << "there is nothing to go on with yet";
  ASSERT_TRUE(ring->maintain().ok());
  EXPECT_TRUE(reader.replaced());
}

TEST(RingReader, CountsTheFramesThatWereOverwrittenBeforeItReadThem) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  backend_double backend(*ring);
  ASSERT_TRUE(backend.line_now("first\n").ok());
  ring_reader reader(folder / "ring");
  std::string text;
  ASSERT_TRUE(reader.read(text));
  const std::string line = std::string(999, 'x') + "\n";
  for (int n = 0; n < 1'000; ++n) ASSERT_TRUE(backend.line_now(line).ok());
  const std::string kept = lines_in(reader);
  EXPECT_EQ(kept.size() % line.size(), 0U);
  EXPECT_EQ(reader.losses().overtaken_frames + kept.size() / line.size(), 1'000U);
}

TEST(RingReader, TellsTheFactsOfTheRing) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  for (int n = 1; n <= 3; ++n) {
    const batch lent = ring->lend({.line_bytes = 2, .line_time = std::chrono::system_clock::time_point(std::chrono::seconds(n))});
    std::memcpy(lent.room.data(), "x\n", 2);
    ASSERT_TRUE(ring->submit(2).ok());
  }
  const auto facts = ring_reader(folder / "ring").facts();
  EXPECT_EQ(facts.file_bytes, 64U << 10);
  EXPECT_EQ(facts.data_bytes, 60U << 10);
  EXPECT_EQ(facts.frames.frame_count, 3U);
  EXPECT_EQ(facts.frames.end - facts.frames.begin, 3U * 48);
  EXPECT_EQ(facts.frames.oldest->time_ns, 1'000'000'000);
  EXPECT_EQ(facts.frames.newest->time_ns, 3'000'000'000);
  EXPECT_TRUE(facts.owner_lives);
}

TEST(RingReader, DoesNotChangeAByteOfTheFile) {
  const temp_folder folder;
  {
    const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
    ASSERT_TRUE(backend_double(*ring).line_now("line\n").ok());
  }
  const std::string before = text_of(folder / "ring");
  const auto written_at = std::filesystem::last_write_time(folder / "ring");
  EXPECT_EQ(lines_in(folder / "ring"), "line\n");
  EXPECT_EQ(text_of(folder / "ring"), before);
  EXPECT_EQ(std::filesystem::last_write_time(folder / "ring"), written_at);
}

TEST(RingReader, EndsWithAnErrorWhenTheFileIsTruncatedUnderIt) {
  const temp_folder folder;
  const auto ring = make_mmap_ring_sink(small_ring(folder / "ring"));
  ASSERT_TRUE(backend_double(*ring).line_now("line\n").ok());
  ring_reader reader(folder / "ring");
  std::filesystem::resize_file(folder / "ring", 0);
  EXPECT_THAT(refusal_of([&] { return lines_in(reader); }), ::testing::HasSubstr("truncated while it was read"));
  EXPECT_THAT(refusal_of([&] { return ring_reader(folder / "ring"); }), ::testing::HasSubstr("not a ring"));
}

TEST(RingReader, ReadsWholeLinesConcurrentlyWithAFastWriterOfAnotherProcess) {
  const temp_folder folder;
  const sink_config settings = small_ring(folder / "ring");
  { const auto made = make_mmap_ring_sink(settings); }
  constexpr std::uint64_t line_count = 200'000;
  const pid_t child = ::fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    const auto ring = make_mmap_ring_sink(settings);
    backend_double backend(*ring);
    for (std::uint64_t n = 0; n < line_count; ++n) {
      if (!backend.line(std::to_string(n) + ' ' + std::string(n % 200, static_cast<char>('a' + n % 26)) + '\n').ok()) ::_exit(1);
      if (n % 50 == 0 && !backend.submit().ok()) ::_exit(1);
    }
    ::_exit(backend.submit().ok() ? 0 : 1);
  }
  ring_reader reader(settings.path);
  std::string text;
  std::uint64_t next = 0;
  std::uint64_t read_count = 0;
  int status = -1;
  for (bool ended = false;;) {
    ended = ended || ::waitpid(child, &status, WNOHANG) == child;
    text.clear();
    const bool more = reader.read(text);
    for (std::string_view rest = text; !rest.empty();) {
      const std::string_view line = rest.substr(0, rest.find('\n'));
      std::uint64_t number = 0;
      std::from_chars(line.data(), line.data() + line.size(), number);
      ASSERT_GE(number, next);
      ASSERT_EQ(line, std::to_string(number) + ' ' + std::string(number % 200, static_cast<char>('a' + number % 26)));
      next = number + 1;
      ++read_count;
      rest.remove_prefix(line.size() + 1);
    }
    if (ended && !more) break;
  }
  EXPECT_EQ(status, 0);
  EXPECT_EQ(next, line_count);
  if (reader.losses().overtaken_frames == 0) {
    EXPECT_EQ(read_count, line_count);
  }
}

}  // namespace
}  // namespace penstock::testing
