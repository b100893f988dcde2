// SPDX-License-Identifier: MIT
#include <map>
#include <regex>
#include <thread>

#include "tests/engine/running.hpp"

namespace penstock {
namespace {

struct Stats : testing::Running {};

TEST_F(Stats, AddUpAfterEachFlush) {
  config made = settings();
  sink_config second = made.sinks["app"];
  second.path = folder / "second";
  made.sinks.emplace("second", second);
  logger_config one;
  one.sinks = {{"second"}};
  made.loggers.emplace("one", one);
  start(made);
  for (int round = 1; round <= 50; ++round) {
    for (int i = 0; i < round; ++i) {
      PENSTOCK_INFO("{}", i);
      PENSTOCK_LOG_ERROR(get("one.below"), "{}", i);
    }
    ASSERT_TRUE(flush());
    testing::expect_sums(stats());
  }
  const stats_snapshot now = stats();
  EXPECT_EQ(front().taken[level::info], 50U * 51 / 2);
  EXPECT_EQ(front().taken[level::error], 50U * 51 / 2);
  ASSERT_EQ(now.sinks.size(), 2U);
  EXPECT_EQ(now.sinks[0].name, "app");
  EXPECT_EQ(now.sinks[0].type, "write");
  EXPECT_EQ(now.sinks[0].written[level::info], 1'275U);
  EXPECT_EQ(now.sinks[0].written[level::error], 0U);
  EXPECT_EQ(now.sinks[1].written.total(), 2U * 1'275);
  EXPECT_EQ(now.sinks[0].bytes, text().size());
}

TEST_F(Stats, NeverShowMoreTakenThanAcceptedWhileRecordsMoveConcurrently) {
  start(settings("null"));
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (long i = 0; !end; ++i) PENSTOCK_INFO("{}", i);
    });
  for (int i = 0; i < 300; ++i) {
    const stats_snapshot now = stats();
    EXPECT_GE(now.front.accepted.total(), now.front.taken.total() + now.front.dropped_total());
    std::this_thread::yield();
  }
  end = true;
  for (std::thread& each : threads) each.join();
  ASSERT_TRUE(flush());
  testing::expect_sums(stats());
}

TEST_F(Stats, InPrometheusFormatParseAndSayTheSame) {
  config made = settings();
  sink_config odd = made.sinks["app"];
  odd.path = folder / "odd";
  made.sinks.emplace("odd \"name\\", odd);
  start(made);
  for (int i = 0; i < 10; ++i) PENSTOCK_WARNING("{}", i);
  ASSERT_TRUE(flush());
  const std::string page = prometheus_text();
  const std::regex sample(R"re(([a-z_]+)(\{([a-z]+="([^"\\\n]|\\["\\n])*",?)+\})? [0-9]+(\.[0-9]+)?)re");
  const std::regex comment(R"re(# (HELP [a-z_]+ .+|TYPE [a-z_]+ (counter|gauge|histogram)))re");
  std::map<std::string, std::string> values;
  std::map<std::string, std::string> types;
  for (const std::string& line : testing::lines_of(page)) {
    if (line[0] == '#') {
      EXPECT_TRUE(std::regex_match(line, comment)) << line;
      if (line.rfind("# TYPE ", 0) == 0) {
        const std::string name = line.substr(7, line.find(' ', 7) - 7);
        EXPECT_TRUE(types.emplace(name, line.substr(line.rfind(' ') + 1)).second) << "twice: " << line;
      }
      continue;
    }
    ASSERT_TRUE(std::regex_match(line, sample)) << line;
    const std::size_t blank = line.rfind(' ');
    EXPECT_TRUE(values.emplace(line.substr(0, blank), line.substr(blank + 1)).second) << "twice: " << line;
    const std::string name = line.substr(0, line.find_first_of("{ "));
    std::string family = name;
    for (const char* suffix : {"_bucket", "_count", "_sum"})
      if (family.size() > std::string(suffix).size() && family.ends_with(suffix) && types.count(family) == 0)
        family.resize(family.size() - std::string(suffix).size());
    EXPECT_EQ(types.count(family), 1U) << name << " has no TYPE before it";
  }
  const stats_snapshot now = stats();
  EXPECT_EQ(values["penstock_records_accepted_total{level=\"warning\"}"], std::to_string(now.front.accepted[level::warning]));
  EXPECT_EQ(values["penstock_sink_records_written_total{sink=\"app\",level=\"warning\"}"], "10");
  EXPECT_EQ(values["penstock_sink_records_written_total{sink=\"odd \\\"name\\\\\",level=\"warning\"}"], "10");
  EXPECT_EQ(values["penstock_records_queued"], "0");
  EXPECT_NE(values["penstock_sink_submit_seconds_count{sink=\"app\"}"], "0");
  EXPECT_GE(std::stod(values["penstock_sink_submit_seconds_sum{sink=\"app\"}"]), 0.0);
  EXPECT_GT(now.sinks.front().submit_latency.sum_ns, 0U);
}

TEST_F(Stats, LevelsOfATreeOfLoggersTakeEffectAtOnce) {
  config made = settings();
  made.loggers["root"].level = level::warning;
  made.loggers["net"].level = level::debug;
  start(made);
  logger& net = get("net");
  logger& http = get("net.http.client");
  logger& other = get("other");
  EXPECT_EQ(http.threshold(), level::debug);
  EXPECT_EQ(other.threshold(), level::warning);
  int evaluated = 0;
  PENSTOCK_LOG_INFO(other, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 0) << "arguments of a level that is off are not evaluated";
  net.set_level(level::off);
  EXPECT_EQ(http.threshold(), level::off);
  http.set_level(level::trace);
  EXPECT_EQ(http.threshold(), level::trace);
  PENSTOCK_LOG_TRACE(http, "{}", ++evaluated);
  PENSTOCK_LOG_CRITICAL(net, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 1);
  get("root").set_level(level::info);
  EXPECT_EQ(other.threshold(), level::info);
  EXPECT_EQ(&get("net.http.client"), &http);
  ASSERT_TRUE(flush());
  EXPECT_EQ(text(), "1\n");
}

}  // namespace
}  // namespace penstock
