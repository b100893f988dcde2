// SPDX-License-Identifier: MIT
#include "bench/suites/tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include <penstock/config.hpp>

#include "bench/suites/system_calls.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::bench {
namespace {

using seconds = std::chrono::duration<double>;

// A machine whose sinks have known speeds, and whose clock advances by the passes alone.
class machine {
 public:
  double rate_of(const sweep_choice& choice) const {
    const double by_type = choice.type == "pwrite" ? 1.0 : choice.type == "write" ? 0.95 : 0.8;
    const double by_batch = choice.batch_bytes == std::size_t{256} << 10 ? 1.0 : 0.7;
    return 4000 * by_type * by_batch;
  }

  tuning tune_for(seconds time) {
    const auto measure = [&](const sweep_choice& choice) {
      if (choice.type == "io_uring") throw unavailable("refused");
      ++passes[choice.name()];
      // Every pass is off by up to 10 %, up and down in turn.
      const double noise = 1 + 0.1 * static_cast<double>(static_cast<int>(passes[choice.name()] % 3) - 1);
      sweep_pass pass{.bytes = 100'000'000, .seconds = 100 / (rate_of(choice) * noise), .cpu_seconds = 0.02};
      pass.hand_over_us = {40, 50};
      now += seconds(pass.seconds);
      return pass;
    };
    return tune(tune_candidates(page_cache_policy::keep), time, measure, [&] { return now; });
  }

  std::map<std::string, int> passes;
  seconds now{0};
};

TEST(Tune, ChoosesWithinFivePercentOfTheBest) {
  machine host;
  const tuning result = host.tune_for(seconds(20));
  double best = 0;
  for (const candidate& one : tune_candidates(page_cache_policy::keep))
    if (one.choice.type != "io_uring") best = std::max(best, host.rate_of(one.choice));
  EXPECT_GE(host.rate_of(result.chosen.choice), 0.95 * best);
}

TEST(Tune, SpendsMostOfItsTimeOnTheBest) {
  machine host;
  static_cast<void>(host.tune_for(seconds(20)));
  EXPECT_GT(host.passes["pwrite/keep/256 KiB"], 5 * host.passes["stdio/keep/4 KiB"]);
}

TEST(Tune, StopsWhenTheTimeIsUp) {
  machine host;
  static_cast<void>(host.tune_for(seconds(5)));
  EXPECT_LT(host.now.count(), 5.2);
}

TEST(Tune, MeasuresEveryCandidateOnceHoweverShortTheTime) {
  machine host;
  const tuning result = host.tune_for(seconds(0));
  EXPECT_EQ(host.passes.size(), result.ranking.size());
  EXPECT_EQ(result.ranking.size(), 18U);  // write, pwrite, stdio × six batch sizes
}

TEST(Tune, SaysWhichSinkIsNotAvailable) {
  machine host;
  EXPECT_THAT(host.tune_for(seconds(1)).notes,
              ::testing::Contains(::testing::HasSubstr("io_uring/keep/256 KiB is not available here: refused")));
}

TEST(Tune, AmongEqualRatesTheCheapestWins) {
  candidate fast{.choice = {"pwrite", page_cache_policy::keep, 4096}, .mb_per_s = {1000}, .cpu_s_per_gb = {0.4}};
  candidate cheap{.choice = {"write", page_cache_policy::keep, 4096}, .mb_per_s = {990}, .cpu_s_per_gb = {0.2}};
  candidate slow{.choice = {"stdio", page_cache_policy::keep, 4096}, .mb_per_s = {900}, .cpu_s_per_gb = {0.1}};
  EXPECT_EQ(choose({fast, cheap, slow}).choice, cheap.choice);
}

TEST(Tune, TheTableIsAConfigThatCanBeRead) {
  const testing::temp_folder folder;
  const tune_options chosen{.dir = folder.path(), .time = seconds(1), .pass_bytes = std::uint64_t{1} << 20};
  const tuning result = tune_folder(chosen);
  const config settings = parse_config(tuning_toml(result, chosen), "tuned.toml");
  ASSERT_EQ(settings.sinks.count("app"), 1U);
  const sink_config& sink = settings.sinks.at("app");
  EXPECT_EQ(sink.type, result.chosen.choice.type);
  EXPECT_EQ(sink.batch_size, result.chosen.choice.batch_bytes);
  EXPECT_EQ(sink.path, std::filesystem::weakly_canonical(folder.path()) / "app.log");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SinkSweep, HasEverySinkAndEveryPolicyThatAConfigAllows) {
  std::map<std::string, int> policies;
  for (const sweep_choice& choice : sweep_choices())
    if (choice.batch_bytes == std::size_t{64} << 10) ++policies[choice.type];
  EXPECT_EQ(policies["write"], 2);
  EXPECT_EQ(policies["pwrite"], 3);
  EXPECT_EQ(policies["io_uring"], 3);
  EXPECT_GE(policies["stdio"], 1);
  EXPECT_GE(policies["mmap_ring"], 1);
}

TEST(SinkSweep, APassIsVerifiedAndLeavesNothing) {
  const testing::temp_folder folder;
  const sweep_pass pass =
      run_sweep_pass({"write", page_cache_policy::keep, std::size_t{64} << 10}, folder.path() / "target.log", 1'000'001);
  EXPECT_EQ(pass.bytes, 1'000'001U);
  EXPECT_GT(pass.seconds, 0);
  EXPECT_GE(pass.hand_over_us.size(), 15U);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SystemCalls, AreCountedBetweenTheMarks) {
  const auto calls = count_system_calls([] {
    counting_begins();
    for (int i = 0; i < 7; ++i) static_cast<void>(::access("/", 0));
    counting_ends();
    static_cast<void>(::access("/", 0));
  });
  if (!calls) GTEST_SKIP() << "ptrace is forbidden here";
  EXPECT_EQ(*calls, 7U);
}

TEST(SystemCalls, WorkThatFailsHasNoCount) {
  EXPECT_FALSE(count_system_calls([] {
    counting_begins();
    throw 1;
  }));
}

TEST(SystemCalls, AWriteSinkMakesOneCallABatch) {
  const testing::temp_folder folder;
  const auto calls = system_calls_per_mb({"write", page_cache_policy::keep, std::size_t{64} << 10}, folder.path() / "target.log");
  if (!calls) GTEST_SKIP() << "ptrace is forbidden here";
  EXPECT_NEAR(*calls, 1e6 / 65536, 1.5);
}

}  // namespace
}  // namespace penstock::bench
