// SPDX-License-Identifier: MIT
// `penstock bench all --report DIR`: every suite, one page.
#pragma once

namespace CLI {
class App;
}

namespace penstock::cli {

/// `logger_bench`: whether `bench logger` is in this build, so that it can be run for the page.
void add_report_bench(CLI::App& bench, bool logger_bench, int& exit_status);

}  // namespace penstock::cli
