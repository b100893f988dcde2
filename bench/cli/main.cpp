// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include <penstock/base/error.hpp>

#include "bench/cli/bench_command.hpp"
#include "bench/cli/commands.hpp"
#include "bench/cli/config_command.hpp"
#include "bench/cli/exit_status.hpp"
#include "bench/cli/replay_command.hpp"
#include "bench/cli/ring_command.hpp"
#include "bench/cli/tune_command.hpp"

// A part that may not be there yet.
#if __has_include("bench/cli/recover_command.hpp")
#include "bench/cli/recover_command.hpp"
#define PENSTOCK_TOOL_RECOVER 1
#endif

namespace {

void add_commands(CLI::App& app, int& exit_status) {
  using namespace penstock::cli;  // NOLINT(google-build-using-namespace): the commands
  add_bench_command(app, exit_status);
  add_tune_command(app, exit_status);
  add_replay_command(app, exit_status);
  add_ring_command(app, exit_status);
  add_config_command(app, exit_status);
#ifdef PENSTOCK_TOOL_RECOVER
  add_recover_command(app, exit_status);
#else
  CLI::App* recover = app.add_subcommand("recover", "prints the records that a killed process left in its rescue file (not built yet)");
  recover->allow_extras();
  recover->callback([&exit_status] {
    std::fputs("penstock: recover is not built yet, and neither are rescue files; nothing was read\n", stderr);
    exit_status = penstock::cli::wrong_call;
  });
#endif
}

// CLI11 says of an unknown command only that one is required.
bool names_no_command(const CLI::App& app, int argc, char** argv) {
  const CLI::App* at = &app;
  std::string path = "penstock";
  for (int i = 1; i < argc && argv[i][0] != '-'; ++i) {
    std::string known;
    const CLI::App* next = nullptr;
    for (const CLI::App* command : at->get_subcommands([](const CLI::App* one) { return !one->get_name().empty(); })) {
      if (command->get_name() == argv[i]) next = command;
      known += (known.empty() ? "" : ", ") + command->get_name();
    }
    if (known.empty()) return false;
    if (next == nullptr) {
      std::fprintf(stderr, "%s: there is no command '%s'; there are %s\n", path.c_str(), argv[i], known.c_str());
      return true;
    }
    at = next;
    path += " " + next->get_name();
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  int exit_status = 0;
  CLI::App app{"Penstock's tool: measures, tunes, replays and reads logs. `penstock COMMAND --help` explains each command.", "penstock"};
  app.set_version_flag("--version", "penstock " PENSTOCK_VERSION_TEXT);
  app.require_subcommand(1);
  try {
    add_commands(app, exit_status);
    if (names_no_command(app, argc, argv)) return penstock::cli::wrong_call;
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (app.exit(error) != 0) return penstock::cli::wrong_call;
    std::cout.flush();  // CLI11 prints its help there.
  } catch (const penstock::config_error& error) {
    std::fprintf(stderr, "penstock: %s\n", error.what());
    return penstock::cli::wrong_call;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock: %s\n", error.what());
    return penstock::cli::work_failed;
  }
  // A result that did not reach its reader (a full disk behind the redirection) is a failure, not a success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || !std::cout) {
    std::fputs("penstock: the results could not be written to standard output\n", stderr);
    return exit_status == 0 ? penstock::cli::work_failed : exit_status;
  }
  return exit_status;
}
