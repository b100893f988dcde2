// SPDX-License-Identifier: MIT
// The options that all of `penstock bench` shares.
#pragma once

#include "bench/suites/options.hpp"

namespace CLI {
class App;
}

namespace penstock::cli {

/// Adds --dir, --repeat, --file, --sync, --cache, --csv, --json, --smoke. `chosen` must outlive the parser.
void add_bench_options(CLI::App& command, bench::options& chosen);

}  // namespace penstock::cli
