// SPDX-License-Identifier: MIT
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include <penstock/base/error.hpp>

#include "bench/cli/commands.hpp"

// The parts of the tool are added one by one; a part that is not there is a command that does not exist.
#if __has_include("bench/cli/config_command.hpp")
#include "bench/cli/config_command.hpp"
#define PENSTOCK_TOOL_CONFIG 1
#endif
#if __has_include("bench/cli/ring_command.hpp")
#include "bench/cli/ring_command.hpp"
#define PENSTOCK_TOOL_RING 1
#endif
#if __has_include("bench/cli/replay_command.hpp")
#include "bench/cli/replay_command.hpp"
#define PENSTOCK_TOOL_REPLAY 1
#endif
#if __has_include("bench/cli/recover_command.hpp")
#include "bench/cli/recover_command.hpp"
#define PENSTOCK_TOOL_RECOVER 1
#endif
#if __has_include("bench/cli/bench_command.hpp")
#include "bench/cli/bench_command.hpp"
#define PENSTOCK_TOOL_BENCH 1
#endif
#if __has_include("bench/cli/tune_command.hpp")
#include "bench/cli/tune_command.hpp"
#define PENSTOCK_TOOL_TUNE 1
#endif

namespace {

constexpr int wrong_call = 2;

void add_commands(CLI::App& app, int& exit_status) {
  using namespace penstock;       // NOLINT(google-build-using-namespace): a command may live in either
  using namespace penstock::cli;  // NOLINT(google-build-using-namespace)
#ifdef PENSTOCK_TOOL_REPLAY
  add_replay_command(app, exit_status);
#endif
#ifdef PENSTOCK_TOOL_BENCH
  add_bench_command(app, exit_status);
#endif
#ifdef PENSTOCK_TOOL_TUNE
  add_tune_command(app, exit_status);
#endif
#ifdef PENSTOCK_TOOL_RING
  add_ring_command(app, exit_status);
#endif
#ifdef PENSTOCK_TOOL_CONFIG
  add_config_command(app, exit_status);
#endif
#ifdef PENSTOCK_TOOL_RECOVER
  add_recover_command(app, exit_status);
#else
  CLI::App* recover = app.add_subcommand("recover", "prints the records that a killed process left in its rescue file (not built yet)");
  recover->allow_extras();
  recover->callback([&exit_status] {
    std::fputs("penstock: recover is not built yet, and neither are rescue files; nothing was read\n", stderr);
    exit_status = wrong_call;
  });
#endif
}

}  // namespace

int main(int argc, char** argv) {
  int exit_status = 0;
  CLI::App app{"Penstock's tool: measures, tunes, replays and reads logs. `penstock COMMAND --help` explains each command.", "penstock"};
  app.set_version_flag("--version", "penstock " PENSTOCK_VERSION_TEXT);
  app.require_subcommand(1);
  try {
    add_commands(app, exit_status);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : wrong_call;
  } catch (const penstock::config_error& error) {
    std::fprintf(stderr, "penstock: %s\n", error.what());
    return wrong_call;
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
