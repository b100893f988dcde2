// SPDX-License-Identifier: MIT
// `penstock bench logger`: the front end, beside whichever other loggers the build found.
#pragma once

namespace CLI {
class App;
}

namespace penstock::cli {

/// Adds the command to `penstock bench`; `exit_status` must outlive the parser.
void add_logger_bench(CLI::App& bench, int& exit_status);

}  // namespace penstock::cli
