// SPDX-License-Identifier: MIT
// `penstock bench rotation`: what a file sink costs its callers while it changes its file a thousand times a second.
#pragma once

namespace CLI {
class App;
}

namespace penstock::cli {

/// Adds the command to `penstock bench`; `exit_status` must outlive the parser.
void add_rotation_bench(CLI::App& bench, int& exit_status);

}  // namespace penstock::cli
