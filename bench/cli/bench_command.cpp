// SPDX-License-Identifier: MIT
#include "bench/cli/bench_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>

#include "bench/cli/bench_options.hpp"
#include "bench/cli/exit_status.hpp"
#include "bench/cli/report_command.hpp"
#include "bench/suites/environment.hpp"
#include "bench/suites/export.hpp"
#include "bench/suites/picture.hpp"
#include "bench/suites/published.hpp"
#include "bench/suites/scratch.hpp"
#include "bench/suites/suites.hpp"
#include "bench/suites/table.hpp"

#ifdef PENSTOCK_TOOL_LOGGER_BENCH
#include "bench/latency/logger_command.hpp"
#include "bench/latency/rotation_command.hpp"
#endif
#ifdef PENSTOCK_GOOGLE_BENCHMARK
#include "bench/cli/sinks_command.hpp"
#endif

namespace penstock::cli {
namespace {

void print(const bench::suite_result& result, const bench::options& chosen, const std::vector<bench::fact>& facts) {
  fmt::print("{}\n{}", bench::heading_text(result, chosen), bench::environment_text(facts));
  fmt::print("{}", bench::tables_text(result));
  fmt::print("\n");
  for (const std::string& remark : bench::remarks(result)) fmt::print("* {}\n", remark);
}

int run_suite(const bench::suite_entry& entry, const bench::options& chosen) {
  if (!chosen.svg.empty()) bench::require_gnuplot();
  const bench::interrupt_watch watch;
  bench::suite_result result = bench::run(entry.make(chosen), chosen);
  if (chosen.published) {
    for (bench::figures& row : bench::published_figures(result.what)) result.rows.push_back(std::move(row));
  }
  const std::vector<bench::fact> facts = bench::environment_of(chosen.dir);
  print(result, chosen, facts);
  if (!chosen.csv.empty()) bench::write_file(chosen.csv, bench::csv_text({result}));
  if (!chosen.json.empty()) bench::write_file(chosen.json, bench::json_text({result}, chosen, facts));
  if (!chosen.svg.empty() && !result.rows.empty()) bench::draw(result, chosen.svg);
  return result.failures.empty() && !result.interrupted ? done : work_failed;
}

}  // namespace

void add_pass_bytes(CLI::App& command, std::uint64_t& chosen, const std::string& default_size) {
  const auto too_small = [](std::string& bytes) {
    const std::string problem = CLI::Range(std::uint64_t{1} << 20, std::uint64_t{1} << 50)(bytes);
    return problem.empty() ? problem : problem + " bytes; the least is 1 MiB";
  };
  command.add_option("--bytes", chosen, "bytes of each pass (default: " + default_size + ")")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Validator(too_small, "SIZE"))
      ->option_text("SIZE");
}

CLI::Option* add_result_file(CLI::App& command, const std::string& name, std::filesystem::path& chosen, const std::string& description) {
  return command.add_option(name, chosen, description)
      ->check(CLI::Validator([](std::string& file) { return bench::result_file_problem(file); }, "FILE"))
      ->option_text("FILE");
}

CLI::Option* add_picture_file(CLI::App& command, std::filesystem::path& chosen) {
  return add_result_file(command, "--svg", chosen, "draws a picture (needs gnuplot)")
      ->check(CLI::Validator([](std::string& file) { return bench::result_file_problem(bench::script_beside(file)); }, "FILE"));
}

void add_run_options(CLI::App& command, bench::options& chosen) {
  using bench::cache_mode;
  using bench::file_policy;
  using bench::sync_mode;
  command.add_option("--dir", chosen.dir, "the folder to work in; nothing is left there (default: .)")->check(CLI::ExistingDirectory);
  command.add_option("--repeat", chosen.repeat, "passes of each cell (default: 15, 7 above 64 MiB, 3 for 1 GB)")
      ->check(CLI::Range(1, 1000));
  add_choice<file_policy>(command, "--file", chosen.file,
                          {{"new", file_policy::new_file}, {"truncate", file_policy::truncate}, {"in-place", file_policy::in_place}},
                          "what the target is when a pass begins (default: new)");
  add_choice<sync_mode>(command, "--sync", chosen.sync, {{"none", sync_mode::none}, {"fdatasync", sync_mode::fdatasync}},
                        "fdatasync adds the sync clock (default: none)");
  add_choice<cache_mode>(command, "--cache", chosen.cache, {{"warm", cache_mode::warm}, {"drop-source", cache_mode::drop_source}},
                         "drop-source takes the source of reads and copies out of the page cache (default: warm)");
  command.add_flag("--smoke", chosen.smoke, "small sizes: checks that the suite works, measures nothing of interest");
}

void add_bench_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("bench", "measures: the published file I/O comparisons, the sinks, the logger");
  command->require_subcommand(1);
  for (const bench::suite_entry& entry : bench::suite_entries()) {
    CLI::App* one = command->add_subcommand(std::string(entry.name), std::string(entry.about));
    auto chosen = std::make_shared<bench::options>();
    add_run_options(*one, *chosen);
    add_result_file(*one, "--csv", chosen->csv, "writes the figures as CSV");
    add_result_file(*one, "--json", chosen->json, "writes everything as JSON");
    add_picture_file(*one, chosen->svg);
    one->add_flag("--published", chosen->published, "adds the figures of the post");
    one->callback([&exit_status, &entry, chosen] { exit_status = run_suite(entry, *chosen); });
  }
#ifdef PENSTOCK_GOOGLE_BENCHMARK
  add_sinks_bench(*command, exit_status);
#else
  CLI::App* sinks = command->add_subcommand("sinks", "every sink × batch size × page-cache policy (not in this build)");
  sinks->allow_extras();
  sinks->callback([&exit_status] {
    fmt::print(stderr, "penstock: bench sinks needs Google Benchmark; build with -DPENSTOCK_BENCHES=ON\n");
    exit_status = wrong_call;
  });
#endif
#ifdef PENSTOCK_TOOL_LOGGER_BENCH
  add_logger_bench(*command, exit_status);
  add_rotation_bench(*command, exit_status);
  add_report_bench(*command, true, exit_status);
#else
  add_report_bench(*command, false, exit_status);
#endif
}

}  // namespace penstock::cli
