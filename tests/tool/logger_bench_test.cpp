// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "bench/latency/line_check.hpp"
#include "bench/latency/measure.hpp"
#include "bench/latency/one_run.hpp"
#include "bench/latency/workload.hpp"
#include "tests/tool/tool_call.hpp"

namespace penstock::bench {
namespace {

using penstock::testing::call_tool;
using penstock::testing::temp_folder;
using penstock::testing::text_of;
using penstock::testing::tool_result;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The median in the CSV line of a case, a workload and a unit; -1: there is none.
double median_of(const std::string& csv, const std::string& logger, const std::string& work, const std::string& unit) {
  for (const std::string& line : lines_of(csv)) {
    std::vector<std::string> fields;
    std::istringstream in(line);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    if (fields.size() == 10 && fields[1] == logger && fields[2] == work && fields[4] == unit) return std::stod(fields[5]);
  }
  return -1;
}

TEST(LoggerBench, FindsEveryLineOfEveryWorkloadInEachFormatMode) {
  const temp_folder folder;
  const tool_result result =
      call_tool(folder, "bench logger --logger penstock --repeat 1 --records 200 --threads 3 --csv f.csv --json f.json");
  ASSERT_EQ(result.status, 0) << result.out << result.err;
  const std::string csv = text_of(folder / "f.csv");
  EXPECT_EQ(lines_of(csv).front(), "suite,case,size,clock,unit,median,min,max,repeats,source");
  for (const char* mode : {"Penstock auto", "Penstock caller", "Penstock backend"}) {
    EXPECT_THAT(result.out, HasSubstr(mode));
    for (const char* work : {"T1", "T2", "J1 1K", "J1 2K", "J1 5K", "J1 10K", "J1 50K"}) {
      EXPECT_EQ(median_of(csv, mode, work, "lines lost"), 0) << mode << work;
      EXPECT_GT(median_of(csv, mode, work, "lines/s"), 0) << mode << work;
      EXPECT_GT(median_of(csv, mode, work, "MB peak memory"), 0) << mode << work;
    }
    for (const char* work : {"L1", "L2"}) {
      EXPECT_EQ(median_of(csv, mode, work, "lines lost"), 0) << mode << work;
      EXPECT_GT(median_of(csv, mode, work, "ns p50"), 0) << mode << work;
      EXPECT_GE(median_of(csv, mode, work, "ns max"), median_of(csv, mode, work, "ns p99.9")) << mode << work;
      EXPECT_GT(median_of(csv, mode, work, "ns p50 of an empty measurement"), 0) << mode << work;
    }
  }
  EXPECT_THAT(text_of(folder / "f.json"), HasSubstr("\"lines_found\": 198"));  // T2: 3 threads share 200 lines
}

TEST(LoggerBench, WatchesSilentThreadsOnlyWhereItIsAskedTo) {
  const temp_folder folder;
  const tool_result result =
      call_tool(folder, "bench logger --logger penstock --mode auto --workload I1 --records 20 --repeat 1 --csv f.csv");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  const std::string csv = text_of(folder / "f.csv");
  EXPECT_EQ(median_of(csv, "Penstock auto", "I1", "lines lost"), 0);
  EXPECT_GT(median_of(csv, "Penstock auto", "I1", "bytes/thread"), 0);
  EXPECT_GE(median_of(csv, "Penstock auto", "I1", "% CPU"), 0);
  for (const workload& usual : workloads_of({})) EXPECT_NE(usual.kind, workload_kind::idle);
}

TEST(LoggerBench, CountsTheLinesOfEveryLoggerThatTheBuildFound) {
  const temp_folder folder;
  const tool_result result = call_tool(folder, "bench logger --workload T1,T2 --mode auto --repeat 1 --records 2000 --csv f.csv");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  int rows = 0;
  for (const std::string& line : lines_of(text_of(folder / "f.csv"))) {
    if (line.find(",lines lost,") == std::string::npos) continue;
    ++rows;
    EXPECT_THAT(line, HasSubstr(",lines lost,0.000000,0.000000,0.000000,1,measured"));
  }
  EXPECT_GE(rows, 2);
}

TEST(LoggerBench, LeavesNothingBehind) {
  const temp_folder folder;
  EXPECT_EQ(call_tool(folder, "bench logger --workload T1 --logger penstock --mode caller --repeat 1 --records 100").status, 0);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) EXPECT_EQ(entry.path().extension(), ".txt") << entry.path();
}

TEST(LoggerBench, RefusesACallThatCannotBeMeant) {
  const temp_folder folder;
  for (const char* arguments : {"--workload T3", "--mode fast", "--logger printf", "--threads 1", "--records 0", "--repeat 0"}) {
    const tool_result result = call_tool(folder, std::string("bench logger ") + arguments);
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_THAT(result.err, Not(::testing::IsEmpty())) << arguments;
  }
}

const workload three_orders{.name = "T2", .kind = workload_kind::throughput, .threads = 2, .calls = 3};

TEST(LineChecker, CountsEachLineOnceWhateverStandsBeforeTheMessage) {
  line_checker checker(three_orders);
  checker.take("Log file created at: today");
  checker.take("2026 info 17 order 0 filled qty 0 price 100 sym BTCUSD");
  checker.take("[I] main.cpp:3] order 1 filled qty 1 price 100.070000000000 sym ETHUSD");
  checker.take("order 100000000 filled qty 0 price 100.0 sym BTCUSD");
  checker.take("order 100000000 filled qty 0 price 100.0 sym BTCUSD");
  EXPECT_EQ(checker.counts().whole, 3U);
  EXPECT_EQ(checker.counts().repeated, 1U);
  EXPECT_EQ(checker.counts().wrong, 0U);
  EXPECT_EQ(checker.counts().disordered, 0U);
}

TEST(LineChecker, TakesNoLineForWholeThatWasNotSentSo) {
  line_checker checker(three_orders);
  for (const char* line : {"order 0 filled qty 1 price 100 sym BTCUSD", "order 0 filled qty 0 price 100.5 sym BTCUSD", "order 0 filled qty",
                           "order 0 filled qty 0 price 100 sym BTCUSD.", "order 3 filled qty 3 price 100.21 sym MSFT.Q"})
    checker.take(line);
  EXPECT_EQ(checker.counts().whole, 0U);
  EXPECT_EQ(checker.counts().wrong, 5U);
}

TEST(LineChecker, SeesLinesOfOneThreadOutOfOrder) {
  line_checker checker(three_orders);
  checker.take("order 1 filled qty 1 price 100.07 sym ETHUSD");
  checker.take("order 0 filled qty 0 price 100 sym BTCUSD");
  checker.take("order 100000000 filled qty 0 price 100 sym BTCUSD");
  EXPECT_EQ(checker.counts().whole, 3U);
  EXPECT_EQ(checker.counts().disordered, 1U);
}

TEST(LineChecker, TakesACutRecordForWrong) {
  const workload records{.name = "J1 1K", .kind = workload_kind::long_records, .calls = 2, .record_bytes = 1000};
  line_checker checker(records);
  const std::string record = long_record(1000);
  checker.take("prefix " + record);
  checker.take("prefix " + record.substr(0, 999));
  EXPECT_EQ(checker.counts().whole, 1U);
  EXPECT_EQ(checker.counts().wrong, 1U);
}

TEST(CallsHeldUp, AreAddedForEachBurstThatWasDueDuringALongCall) {
  EXPECT_THAT(with_calls_held_up({5, 100, 30}, 100, 2), ElementsAre(5, 100, 30));
  EXPECT_THAT(with_calls_held_up({250, 7}, 100, 2), ElementsAre(250, 7, 150, 150, 50, 50));
}

TEST(RunFigures, ComeThroughThePipeAsTheyWere) {
  const run_figures figures{{"lines_found", 4'000'000}, {"p99.9_ns", 512.25}, {"written_s", 0.000173}};
  EXPECT_EQ(figures_from(penstock::bench::text_of(figures)), figures);
}

TEST(Workload, ComesThroughACallAsItWas) {
  const workload sent{.name = "L2", .kind = workload_kind::latency, .threads = 4, .calls = 50'000, .record_bytes = 0};
  std::filesystem::path file;
  const workload got = workload_from(words_of(sent, "/a b/c.log"), file);
  EXPECT_EQ(file, "/a b/c.log");
  EXPECT_EQ(got.kind, sent.kind);
  EXPECT_EQ(got.threads, 4U);
  EXPECT_EQ(got.calls, 50'000U);
  EXPECT_EQ(expected_lines(got), 4U * (50'000 + 251 * 20));
}

}  // namespace
}  // namespace penstock::bench
