// SPDX-License-Identifier: MIT
// `bench sinks --limits` as a library: how pairs become ratios, that every loop's bytes are checked, and all of it once in its smoke form.
#include "bench/suites/limits.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "bench/suites/limit_content.hpp"
#include "bench/suites/pass.hpp"
#include "bench/suites/raw_io.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

loop_run at_rate(double bytes_per_second) { return {.bytes = 1'000'000, .seconds = 1e6 / bytes_per_second}; }

double first_by_second(const std::vector<loop_run>& runs) { return runs[0].bytes_per_second() / runs[1].bytes_per_second(); }

TEST(LimitRows, AreNumbersAndRanges) {
  EXPECT_THAT(limit_rows("1-3,7"), ElementsAre(1, 2, 3, 7));
  EXPECT_THAT(limit_rows("19"), ElementsAre(19));
}

TEST(LimitRows, ThatDoNotExistAreNamed) {
  for (const char* wrong : {"", "0", "20", "x", "1-", "-3", "1,,2", "5-1", "1 2"}) {
    try {
      static_cast<void>(limit_rows(wrong));
      ADD_FAILURE() << "'" << wrong << "' was taken";
    } catch (const std::invalid_argument& error) {
      EXPECT_THAT(error.what(), HasSubstr("'")) << wrong;
    }
  }
}

TEST(LimitExperiments, RunInTurnAndEverySecondTimeInReverse) {
  std::string order;
  const limit_experiment one{.loops = {{"a",
                                        [&] {
                                          order += 'a';
                                          return at_rate(2e6);
                                        }},
                                       {"b",
                                        [&] {
                                          order += 'b';
                                          return at_rate(1e6);
                                        }}},
                             .ratios = {{.number = 1, .what = "a / b", .target = limit_target{.value = 1.5}, .from = first_by_second}}};
  const limits_result result = run_experiments({one}, 3);
  EXPECT_EQ(order, "abbaab");
  ASSERT_EQ(result.lines.size(), 1U);
  EXPECT_THAT(result.lines[0].values, ElementsAre(2.0, 2.0, 2.0));
  EXPECT_EQ(result.lines[0].verdict(), limit_verdict::met);
  ASSERT_EQ(result.loops.size(), 2U);
  EXPECT_EQ(result.loops[0].bytes_per_second.size(), 3U);
}

TEST(LimitExperiments, AnInvalidPairIsDiscardedAndRunAgain) {
  int pair = 0;
  limit_experiment one{
      .loops = {{"a", [&] { return at_rate(++pair == 2 ? 9e6 : 1e6); }}, {"b", [] { return at_rate(1e6); }}},
      .ratios = {{.number = 10, .what = "a / b", .target = limit_target{.value = 2, .at_most = true}, .from = first_by_second}},
      .invalid = [](const std::vector<loop_run>& runs) {
        return runs[0].bytes_per_second() > 5e6 ? std::string("it was too fast") : std::string();
      }};
  const limits_result result = run_experiments({one}, 3);
  EXPECT_THAT(result.lines.at(0).values, ElementsAre(1.0, 1.0, 1.0));
  EXPECT_EQ(result.lines.at(0).discarded, 1U);
  EXPECT_THAT(limits_text(result), HasSubstr("10: 1 discarded, since it was too fast"));
}

TEST(LimitExperiments, WithoutAnyValidPairThereIsNoRatio) {
  int runs = 0;
  const limit_experiment one{.loops = {{"a",
                                        [&] {
                                          ++runs;
                                          return at_rate(1e6);
                                        }}},
                             .ratios = {{.number = 10, .what = "a", .from = [](const std::vector<loop_run>&) { return 1.0; }}},
                             .invalid = [](const std::vector<loop_run>&) { return std::string("cold"); }};
  const limits_result result = run_experiments({one}, 2);
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(result.lines.at(0).verdict(), limit_verdict::not_measurable);
  EXPECT_THAT(limits_text(result), HasSubstr("10: not measurable here: no pair was valid: cold"));
}

TEST(LimitExperiments, WhatTheMachineLacksIsNoFailureAndWhatIsWrongIsOne) {
  const auto without = [](const auto& error) {
    return limit_experiment{.loops = {{"a", [error]() -> loop_run { throw error; }}},
                            .ratios = {{.number = 12, .what = "direct", .from = [](const std::vector<loop_run>&) { return 1.0; }}}};
  };
  const limits_result lacking = run_experiments({without(unavailable("no O_DIRECT"))}, 2);
  EXPECT_THAT(lacking.failures, IsEmpty());
  EXPECT_THAT(limits_text(lacking), HasSubstr("12: not measurable here: no O_DIRECT"));
  const limits_result wrong = run_experiments({without(std::runtime_error("verification failed"))}, 2);
  EXPECT_THAT(wrong.failures, ElementsAre("12 direct: verification failed"));
  EXPECT_EQ(wrong.lines.at(0).verdict(), limit_verdict::not_measurable);
}

TEST(LimitExperiments, HaveALineForEachOfTheNineteenAndOnlyForTheWanted) {
  std::set<int> numbers;
  for (const limit_experiment& one : limit_experiments({}, "unused"))
    for (const limit_ratio& ratio : one.ratios) numbers.insert(ratio.number);
  EXPECT_EQ(numbers, limit_rows("1-19"));
  numbers.clear();
  for (const limit_experiment& one : limit_experiments({.rows = {5, 13}}, "unused"))
    for (const limit_ratio& ratio : one.ratios) numbers.insert(ratio.number);
  EXPECT_THAT(numbers, ElementsAre(5, 13));
}

TEST(LimitTable, CsvHasOneLineForEachRatioAndQuotesCommas) {
  limits_result result;
  result.lines.push_back({.ratio = {.number = 1, .what = "a, b / c", .target = limit_target{.value = 0.98}}, .values = {0.5, 1, 2}});
  result.lines.push_back({.ratio = {.number = 8, .what = "d", .reason = "nobody has \"d\""}});
  EXPECT_EQ(limits_csv(result),
            "number,what,unit,median,min,max,target,verdict,pairs,discarded,reason\n"
            "1,\"a, b / c\",ratio,1,0.5,2,>=0.98,met,3,0,\n"
            "8,d,ratio,,,,,not measurable here,0,0,\"nobody has \"\"d\"\"\"\n");
}

class LimitFiles : public ::testing::Test {
 protected:
  // Batches of 4096 bytes, numbered as given.
  void write_batches(const std::vector<std::uint64_t>& numbers) {
    buffer batch(batch_bytes);
    fill_batch(batch.span());
    const os::descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
    for (const std::uint64_t number : numbers) {
      number_batch(batch.data(), number);
      put(fd.get(), batch.span());
    }
  }

  static constexpr std::size_t batch_bytes = 4096;
  const testing::temp_folder folder;
  const std::filesystem::path file = folder.path() / "target.log";
};

TEST_F(LimitFiles, ABatchThatIsMissingDoubledOrOutOfPlaceIsFound) {
  write_batches({0, 1, 2});
  EXPECT_NO_THROW(check_batches(file, batch_bytes, 3));
  EXPECT_THROW(check_batches(file, batch_bytes, 2), std::runtime_error);
  EXPECT_THROW(check_batches(file, batch_bytes, 4), std::runtime_error);
  write_batches({0, 2, 1});
  EXPECT_THROW(check_batches(file, batch_bytes, 3), std::runtime_error);
  write_batches({0, 0, 1});
  EXPECT_THROW(check_batches(file, batch_bytes, 3), std::runtime_error);
}

TEST_F(LimitFiles, LinesThatAreCutOffOrChangedAreFound) {
  const hot_lines& lines = hot_lines::instance();
  const std::span<const std::byte> text = lines.piece(0, 1000);
  std::ofstream(file) << std::string(reinterpret_cast<const char*>(text.data()), text.size());
  EXPECT_NO_THROW(check_lines(file, 1000));
  EXPECT_THROW(check_lines(file, 1001), std::runtime_error);
  std::string changed(reinterpret_cast<const char*>(text.data()), text.size());
  changed[999] ^= 1;
  std::ofstream(file) << changed;
  EXPECT_THROW(check_lines(file, 1000), std::runtime_error);
}

TEST_F(LimitFiles, WhatIsInThePageCacheIsCounted) {
  write_batches({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(page_cache_bytes(file), 8 * batch_bytes);
  drop_from_cache(file);
  if (page_cache_bytes(file) == 8 * batch_bytes) GTEST_SKIP() << "SKIPPED: this file system is nothing but page cache";
  EXPECT_EQ(page_cache_bytes(file), 0U);
}

// The form of 4 GiB is row 14 of `penstock bench sinks --limits`.
class PageCache : public LimitFiles, public ::testing::WithParamInterface<page_cache_policy> {};

TEST_P(PageCache, IsLeftAloneByALogThatDropsIt) {
  write_batches({0});
  drop_from_cache(file);
  if (page_cache_bytes(file) != 0) GTEST_SKIP() << "SKIPPED: this file system is nothing but page cache";
  constexpr std::uint64_t bytes = std::uint64_t{192} << 20;
  constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;
  sink_config settings;
  settings.type = "pwrite";
  settings.path = file;
  settings.page_cache = GetParam();
  // After each 32 MiB all of it is brought to the disk: what the page cache holds then is what the sink left there, however slow the disk.
  try {
    const loop_run run = run_sink(settings, bytes, {.watch_page_cache = true, .sync_before_looking = true});
    if (GetParam() == page_cache_policy::keep)
      EXPECT_GT(run.resident_bytes_max, 2 * most_bytes) << "the test cannot see what a log leaves there";
    else
      EXPECT_LT(run.resident_bytes_max, most_bytes);
  } catch (const unavailable& reason) {
    GTEST_SKIP() << "SKIPPED: " << reason.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Policies, PageCache, ::testing::Values(page_cache_policy::keep, page_cache_policy::drop, page_cache_policy::direct),
    [](const auto& which) {
      return std::string(which.param == page_cache_policy::keep ? "keep" : which.param == page_cache_policy::drop ? "drop" : "direct");
    });

TEST(Limits, TheSmokeFormChecksEveryLoopAndLeavesNothing) {
  const testing::temp_folder folder;
  const limits_result result = run_limits({.dir = folder.path(), .repeat = 1, .bytes = std::uint64_t{1} << 20, .smoke = true});
  EXPECT_THAT(result.failures, IsEmpty());
  std::set<int> numbers;
  for (const limit_line& line : result.lines) {
    numbers.insert(line.ratio.number);
    EXPECT_NE(line.values.empty(), line.ratio.reason.empty()) << line.ratio.number << " " << line.ratio.what;
  }
  EXPECT_EQ(numbers, limit_rows("1-19"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

}  // namespace
}  // namespace penstock::bench
