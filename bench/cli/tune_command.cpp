// SPDX-License-Identifier: MIT
#include "bench/cli/tune_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "bench/cli/bench_options.hpp"
#include "bench/cli/exit_status.hpp"
#include "bench/suites/tuner.hpp"

namespace penstock::cli {
namespace {

int run_tune(const bench::tune_options& chosen) {
  const bench::tuning result = bench::tune_folder(chosen);
  fmt::print("{}", bench::tuning_toml(result, chosen));
  return result.interrupted ? work_failed : done;
}

}  // namespace

void add_tune_command(CLI::App& app, int& exit_status) {
  CLI::App* command = app.add_subcommand("tune", "measures a folder and prints the [sinks.…] table that suits it, with the reasons");
  auto chosen = std::make_shared<bench::tune_options>();
  auto seconds = std::make_shared<double>(chosen->time.count());
  command->add_option("--dir", chosen->dir, "the folder that the service will log to; nothing is left there")
      ->required()
      ->check(CLI::ExistingDirectory);
  command->add_option("--time", *seconds, "seconds to spend (default: 20)")->check(CLI::Range(1.0, 3600.0))->option_text("SECONDS");
  add_choice<page_cache_policy>(
      *command, "--page-cache", chosen->cache,
      {{"keep", page_cache_policy::keep}, {"drop", page_cache_policy::drop}, {"direct", page_cache_policy::direct}},
      "what the log may do to the page cache (default: keep)");
  add_pass_bytes(*command, chosen->pass_bytes, "128 MiB");
  command->callback([&exit_status, chosen, seconds] {
    chosen->time = std::chrono::duration<double>(*seconds);
    exit_status = run_tune(*chosen);
  });
}

}  // namespace penstock::cli
