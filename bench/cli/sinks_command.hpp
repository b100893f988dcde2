// SPDX-License-Identifier: MIT
// `penstock bench sinks`: every sink × batch size × page-cache policy, run by Google Benchmark, so that its filters, its JSON and its
// compare.py work.
#pragma once

namespace CLI {
class App;
}

namespace penstock::cli {

void add_sinks_bench(CLI::App& bench, int& exit_status);

}  // namespace penstock::cli
