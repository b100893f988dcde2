// SPDX-License-Identifier: MIT
#include "bench/cli/sinks_command.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "bench/cli/bench_options.hpp"
#include "bench/cli/exit_status.hpp"
#include "bench/cli/limits_run.hpp"
#include "bench/suites/environment.hpp"
#include "bench/suites/export.hpp"
#include "bench/suites/progress.hpp"
#include "bench/suites/scratch.hpp"
#include "bench/suites/sink_sweep.hpp"
#include "bench/suites/statistics.hpp"
#include "bench/suites/sweep_table.hpp"

namespace penstock::cli {
namespace {

struct sinks_options {
  std::filesystem::path dir = ".";
  int repeat = 5;
  std::uint64_t bytes = std::uint64_t{256} << 20;
  bool smoke = false;
  bool limits = false;
  std::string rows{};
  std::filesystem::path csv{};
  std::filesystem::path json{};
};

// What the registered benchmarks share; it outlives them.
struct sweep {
  const sinks_options& chosen;
  bench::scratch_folder folder;
  std::vector<bench::sweep_row> rows;
  std::vector<std::string> failures;
};

void run_one(benchmark::State& state, sweep& all, std::size_t index) {
  bench::sweep_row& row = all.rows[index];
  if (bench::interrupted()) {
    state.SkipWithError("interrupted");
    return;
  }
  if (!row.problem.empty()) {
    state.SkipWithError(row.problem.c_str());
    return;
  }
  try {
    for (auto step : state) {
      static_cast<void>(step);
      bench::sweep_pass pass = bench::run_sweep_pass(row.choice, all.folder.target(), all.chosen.bytes);
      state.SetIterationTime(pass.seconds);
      bench::add_pass(row, pass);
      if (row.passes == 1) row.calls_per_mb = bench::system_calls_per_mb(row.choice, all.folder.target());
      const auto gb = static_cast<double>(pass.bytes) / 1e9;
      std::sort(pass.hand_over_us.begin(), pass.hand_over_us.end());
      state.counters["cpu_s_per_GB"] = pass.cpu_seconds / gb;
      state.counters["p50_us"] = bench::percentile(pass.hand_over_us, 0.5);
      state.counters["p99_us"] = bench::percentile(pass.hand_over_us, 0.99);
      state.counters["p99.9_us"] = bench::percentile(pass.hand_over_us, 0.999);
      state.counters["max_us"] = pass.hand_over_us.back();
      if (row.calls_per_mb) state.counters["syscalls_per_MB"] = *row.calls_per_mb;
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(all.chosen.bytes) * static_cast<std::int64_t>(state.iterations()));
  } catch (const std::exception& error) {
    row.problem = error.what();
    if (dynamic_cast<const bench::unavailable*>(&error) == nullptr) all.failures.push_back(row.choice.name() + ": " + row.problem);
    state.SkipWithError(row.problem.c_str());
  }
}

// Prints nothing while the benchmarks run (progress goes to standard error); the table comes afterwards.
class quiet_reporter : public benchmark::BenchmarkReporter {
 public:
  explicit quiet_reporter(bench::progress& line) : line_(line) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) continue;
      line_.step(1);
      line_.show(run.benchmark_name());
    }
  }

 private:
  bench::progress& line_;
};

std::vector<bench::sweep_row> rows_to_run(const sinks_options& chosen) {
  std::vector<bench::sweep_row> rows;
  for (const bench::sweep_choice& choice : bench::sweep_choices()) {
    if (chosen.smoke && choice.batch_bytes != std::size_t{64} << 10) continue;
    rows.push_back({.choice = choice});
  }
  return rows;
}

// What Google Benchmark says names the expression; the remedy is ours.
int nothing_matches(std::string what, const std::vector<bench::sweep_row>& rows) {
  while (!what.empty() && what.back() == '\n') what.pop_back();
  fmt::print(stderr,
             "penstock: bench sinks: nothing was measured: {}; rows are named like {}; see penstock bench sinks --benchmark_list_tests\n",
             what, rows.front().choice.name());
  return wrong_call;
}

int run_sinks(const sinks_options& chosen, const std::vector<std::string>& extras) {
  // Google Benchmark reads its own flags; --json is its JSON by a shorter name.
  std::vector<std::string> words{"penstock"};
  words.insert(words.end(), extras.begin(), extras.end());
  if (!chosen.json.empty()) words.push_back("--benchmark_out=" + chosen.json.string());
  std::vector<char*> arguments;
  arguments.reserve(words.size());
  for (std::string& word : words) arguments.push_back(word.data());
  auto count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) {
    fmt::print(stderr, "penstock: bench sinks does not know {}; see penstock bench sinks --help\n", arguments[1]);
    return wrong_call;
  }
  bench::require_space(chosen.dir, 2 * chosen.bytes + bench::sweep_batch_bytes_max, "bench sinks");
  const bench::interrupt_watch watch;
  sweep all{.chosen = chosen, .folder = bench::scratch_folder(chosen.dir), .rows = rows_to_run(chosen), .failures = {}};
  for (std::size_t i = 0; i < all.rows.size(); ++i) {
    benchmark::RegisterBenchmark(all.rows[i].choice.name().c_str(), [&all, i](benchmark::State& state) { run_one(state, all, i); })
        ->UseManualTime()
        ->Iterations(1)
        ->Repetitions(chosen.repeat)
        ->Unit(benchmark::kMillisecond);
  }
  std::ostringstream said;
  {
    bench::progress line("bench sinks", static_cast<double>(all.rows.size()) * chosen.repeat);
    quiet_reporter reporter(line);
    reporter.SetErrorStream(&said);
    if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) return nothing_matches(said.str(), all.rows);
  }
  fmt::print(stderr, "{}", said.str());
  fmt::print("bench sinks: each sink as fast as it goes, {} MB a pass, median of {} passes{}\n\n{}", chosen.bytes / 1'000'000,
             chosen.repeat, chosen.smoke ? ", SMOKE RUN: too small to mean anything" : "",
             bench::environment_text(bench::environment_of(chosen.dir)));
  fmt::print("\n{}", bench::sweep_text(all.rows));
  if (bench::interrupted()) fmt::print("* INTERRUPTED: this is what was done until then.\n");
  if (!chosen.csv.empty()) bench::write_file(chosen.csv, bench::sweep_csv(all.rows));
  for (const std::string& failure : all.failures) fmt::print(stderr, "penstock: bench sinks: {}\n", failure);
  return all.failures.empty() && !bench::interrupted() ? done : work_failed;
}

int run_chosen(const sinks_options& chosen, const std::vector<std::string>& extras) {
  if (!chosen.limits) return run_sinks(chosen, extras);
  if (!extras.empty()) {
    fmt::print(stderr, "penstock: bench sinks --limits does not know {}; see penstock bench sinks --help\n", extras.front());
    return wrong_call;
  }
  return run_limits({.chosen = {.dir = chosen.dir, .repeat = chosen.repeat, .bytes = chosen.bytes, .smoke = chosen.smoke},
                     .rows = chosen.rows,
                     .csv = chosen.csv,
                     .json = chosen.json});
}

}  // namespace

void add_sinks_bench(CLI::App& bench, int& exit_status) {
  CLI::App* command = bench.add_subcommand(
      "sinks",
      "every sink × batch size × page-cache policy: MB/s, CPU, hand-over latency, system calls. Takes Google Benchmark's flags too "
      "(--benchmark_filter=REGEX, --benchmark_out=FILE, …)");
  auto chosen = std::make_shared<sinks_options>();
  command->add_option("--dir", chosen->dir, "the folder to work in; nothing is left there (default: .)")->check(CLI::ExistingDirectory);
  command->add_option("--repeat", chosen->repeat, "passes of each row, or pairs of each ratio (default: 5)")->check(CLI::Range(1, 1000));
  add_pass_bytes(*command, chosen->bytes, "256 MiB");
  add_result_file(*command, "--csv", chosen->csv, "writes the figures as CSV");
  add_result_file(*command, "--json", chosen->json, "writes Google Benchmark's JSON, for compare.py; with --limits, every pair");
  CLI::Option* limits = command->add_flag(
      "--limits", chosen->limits, "instead: how near the sinks come to the machine, as 19 ratios to raw loops that run in turn with them");
  command->add_option("--rows", chosen->rows, "only these ratios: 1-5,7")->needs(limits)->option_text("LIST");
  command->add_flag("--smoke", chosen->smoke, "one batch size, small passes: checks the rows, measures nothing of interest");
  command->allow_extras();
  command->callback([&exit_status, chosen, command] {
    if (chosen->smoke) {
      chosen->bytes = std::uint64_t{2} << 20;
      chosen->repeat = 1;
    }
    exit_status = run_chosen(*chosen, command->remaining());
  });
}

}  // namespace penstock::cli
