// SPDX-License-Identifier: MIT
#include "bench/latency/rotation_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "bench/cli/exit_status.hpp"
#include "bench/latency/rotation_bench.hpp"
#include "bench/suites/environment.hpp"
#include "bench/suites/scratch.hpp"
#include "bench/suites/table.hpp"

namespace penstock::cli {
namespace {

int run(const bench::rotation_options& chosen) {
  const bench::interrupt_watch watch;
  const std::vector<bench::rotation_row> rows = bench::run_rotation_bench(chosen);
  fmt::print("bench rotation: {} threads log as fast as they can, {} runs of {} ms in turn; medians\n{}\n{}", chosen.threads, chosen.repeat,
             chosen.milliseconds, bench::environment_text(bench::environment_of(chosen.dir)), bench::rotation_table_text(rows));
  const auto good = [](const std::vector<bench::rotation_run>& runs) {
    return std::all_of(runs.begin(), runs.end(), [](const bench::rotation_run& each) { return each.wrong_count == 0; });
  };
  const bool all_good = std::all_of(rows.begin(), rows.end(), [&](const auto& row) { return good(row.without) && good(row.with); });
  return all_good && !bench::interrupted() ? done : work_failed;
}

}  // namespace

void add_rotation_bench(CLI::App& bench, int& exit_status) {
  CLI::App* const command = bench.add_subcommand("rotation", "callers' latency while the file is changed a thousand times a second");
  const auto chosen = std::make_shared<bench::rotation_options>();
  command->add_option("--sink", chosen->sinks, "which sinks (default: all that rotate)")
      ->delimiter(',')
      ->check(CLI::IsMember({"write", "pwrite", "io_uring", "stdio"}))
      ->option_text("write,pwrite,io_uring,stdio");
  command->add_option("--dir", chosen->dir, "the folder to work in; nothing is left there (default: .)")->check(CLI::ExistingDirectory);
  command->add_option("--threads", chosen->threads, "how many log (default: 4)")->check(CLI::Range(1, 64))->option_text("N");
  command->add_option("--repeat", chosen->repeat, "runs of each cell, in turn (default: 5)")->check(CLI::Range(1, 1000))->option_text("N");
  command->add_option("--milliseconds", chosen->milliseconds, "of each run (default: 1000)")
      ->check(CLI::Range(1, 10'000))
      ->option_text("N");
  command->callback([chosen, &exit_status] { exit_status = run(*chosen); });
}

}  // namespace penstock::cli
