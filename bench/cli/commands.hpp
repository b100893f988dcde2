// SPDX-License-Identifier: MIT
// The subcommands of the `penstock` tool. Each adds itself to the parser; when it is the one that was called, its callback does the work
// and stores 0 (done), 1 (the work failed) or 2 (the call or the config is wrong) in `exit_status`, which outlives the parser.
#pragma once

namespace CLI {
class App;
}

namespace penstock::cli {

void add_config_command(CLI::App& app, int& exit_status);
void add_ring_command(CLI::App& app, int& exit_status);
void add_replay_command(CLI::App& app, int& exit_status);
void add_recover_command(CLI::App& app, int& exit_status);
void add_bench_command(CLI::App& app, int& exit_status);
void add_tune_command(CLI::App& app, int& exit_status);

}  // namespace penstock::cli
