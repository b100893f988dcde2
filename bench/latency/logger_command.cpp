// SPDX-License-Identifier: MIT
#include "bench/latency/logger_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/cli/bench_options.hpp"
#include "bench/cli/exit_status.hpp"
#include "bench/latency/logger_bench.hpp"
#include "bench/latency/logger_report.hpp"
#include "bench/suites/environment.hpp"
#include "bench/suites/export.hpp"
#include "bench/suites/picture.hpp"
#include "bench/suites/table.hpp"

namespace penstock::cli {
namespace {

struct logger_call {
  bench::logger_bench_options chosen{};
  std::filesystem::path csv{};
  std::filesystem::path json{};
  std::filesystem::path svg{};
  std::string one{};                 ///< hidden: a run of Penstock itself in this format mode
  std::vector<std::string> words{};  ///< hidden: its workload
};

int run_all(const logger_call& call) {
  if (!call.svg.empty()) bench::require_gnuplot();
  const bench::logger_result result = bench::run_logger_bench(call.chosen);
  const std::vector<bench::fact> facts = bench::environment_of(call.chosen.dir);
  fmt::print("bench logger: {} run{} of each cell, in turn; medians, max is the worst of all\n{}\n", call.chosen.repeat,
             call.chosen.repeat == 1 ? "" : "s", bench::environment_text(facts));
  fmt::print("{}\n", bench::logger_table_text(result));
  for (const std::string& remark : bench::logger_remarks(result)) fmt::print("* {}\n", remark);
  if (!call.csv.empty()) bench::write_file(call.csv, bench::logger_csv_text(result));
  if (!call.json.empty()) bench::write_file(call.json, bench::logger_json_text(result, facts));
  if (!call.svg.empty()) bench::run_gnuplot(bench::logger_picture_script(result, call.svg), call.svg);
  if (result.interrupted) std::fputs("penstock: interrupted; what stands above is a part\n", stderr);
  return result.good() ? done : work_failed;
}

int run(const logger_call& call) {
  try {
    return call.one.empty() ? run_all(call) : bench::run_penstock(call.one, call.words);
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "penstock: %s\n", error.what());
    return wrong_call;
  }
}

}  // namespace

void add_logger_bench(CLI::App& bench, int& exit_status) {
  CLI::App* const command = bench.add_subcommand(
      "logger", "the front end: throughput and latency for each format mode, beside the other loggers that were built in");
  const auto call = std::make_shared<logger_call>();
  bench::logger_bench_options& chosen = call->chosen;
  command
      ->add_option("--workload", chosen.work.names,
                   "T1,T2: throughput, L1,L2: latency, J1: records of 1K to 50K (default: these); I1: idle threads")
      ->delimiter(',')
      ->check(CLI::IsMember({"T1", "T2", "L1", "L2", "J1", "I1"}))
      ->option_text("T1,T2,L1,L2,J1,I1");
  command->add_option("--mode", chosen.modes, "the format modes of Penstock (default: all)")
      ->delimiter(',')
      ->check(CLI::IsMember({"auto", "caller", "backend"}))
      ->option_text("auto,caller,backend");
  command->add_option("--logger", chosen.loggers, "which loggers: penstock, spdlog, … (default: all that were built in)")
      ->delimiter(',')
      ->option_text("NAME,…");
  command->add_option("--threads", chosen.work.threads, "threads of T2 and L2 (default: 4)")->check(CLI::Range(2, 64))->option_text("N");
  command->add_option("--repeat", chosen.repeat, "runs of each cell, in turn (default: 5)")->check(CLI::Range(1, 1000))->option_text("N");
  command
      ->add_option("--records", chosen.work.records,
                   "T: lines of all threads (4000000), L: calls of each thread (50000), J: records of each size (1000), I: threads (1000)")
      ->check(CLI::Range(1, 50'000'000))
      ->option_text("N");
  command->add_option("--dir", chosen.dir, "the folder to work in; nothing is left there (default: .)")->check(CLI::ExistingDirectory);
  add_result_file(*command, "--csv", call->csv, "writes the figures as CSV");
  add_result_file(*command, "--json", call->json, "writes every run as JSON");
  add_picture_file(*command, call->svg);
  command->add_option("--one", call->one)->group("");
  command->add_option("words", call->words)->group("");
  command->callback([call, &exit_status] { exit_status = run(*call); });
}

}  // namespace penstock::cli
