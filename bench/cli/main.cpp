// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
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
  if (argc < 2 || argv[1][0] == '-') return false;
  std::string known;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) return false;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  std::fprintf(stderr, "penstock: there is no command '%s'; there are %s\n", argv[1], known.c_str());
  return true;
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
    return app.exit(error) == 0 ? 0 : penstock::cli::wrong_call;
  } catch (const penstock::config_error& error) {
    std::fprintf(stderr, "penstock: %s\n", error.what());
    return penstock::cli::wrong_call;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock: %s\n", error.what());
    return 1;
  }
  // A result that did not reach its reader (a full disk behind the redirection) is a failure, not a success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    std::fputs("penstock: the results could not be written to standard output\n", stderr);
    return exit_status == 0 ? 1 : exit_status;
  }
  return exit_status;
}
