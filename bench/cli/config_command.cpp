// SPDX-License-Identifier: MIT
#include "bench/cli/config_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <penstock/config.hpp>

#include "bench/cli/exit_status.hpp"
#include "lib/config/texts.hpp"

namespace penstock::cli {
namespace {

struct config_options {
  std::optional<std::string> check;
  std::optional<std::string> explain;
  bool defaults = false;
  bool docs = false;
};

/// Tells every fault of the file on standard error, one a line.
int check(const std::string& file) {
  const std::vector<std::string> faults = detail::faults_of(file);
  for (const std::string& fault : faults) fmt::print(stderr, "{}\n", fault);
  if (!faults.empty()) return wrong_call;
  fmt::print("{}: good\n", file);
  return done;
}

int explain(const std::string& file) {
  if (const int status = detail::faults_of(file).empty() ? done : check(file); status != done) return status;
  fmt::print("{}", detail::explain_text(load_config(file)));
  return done;
}

int run(const config_options& options) {
  if (options.defaults) fmt::print("{}", detail::defaults_text());
  if (options.docs) fmt::print("{}", detail::docs_text());
  if (options.check) return check(*options.check);
  if (options.explain) return explain(*options.explain);
  return done;
}

}  // namespace

void add_config_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<config_options>();
  CLI::App* command = app.add_subcommand("config", "checks a config file, or prints the defaults or what a file comes to");
  CLI::Option_group* which = command->add_option_group("what to do");
  which->add_option("--check", options->check, "tell all that is wrong with FILE; exit status 2 if anything is")->type_name("FILE");
  which->add_flag("--defaults", options->defaults, "print every key with its default, range and meaning; the output is a valid config");
  which->add_option("--explain", options->explain, "print what FILE comes to: every key, defaults and inheritance written out")
      ->type_name("FILE");
  which->add_flag("--docs", options->docs, "print the reference of all keys in Markdown: docs/config.md");
  which->require_option(1);
  command->callback([options, &exit_status] { exit_status = run(*options); });
}

}  // namespace penstock::cli
