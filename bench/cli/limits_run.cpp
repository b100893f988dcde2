// SPDX-License-Identifier: MIT
#include "bench/cli/limits_run.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <stdexcept>

#include "bench/cli/exit_status.hpp"
#include "bench/suites/environment.hpp"
#include "bench/suites/export.hpp"
#include "bench/suites/table.hpp"

namespace penstock::cli {
int run_limits(limits_call call) {
  try {
    if (!call.rows.empty()) call.chosen.rows = bench::limit_rows(call.rows);
  } catch (const std::invalid_argument& error) {
    fmt::print(stderr, "penstock: bench sinks --rows: {}\n", error.what());
    return wrong_call;
  }
  const bench::limits_result result = bench::run_limits(call.chosen);
  const std::vector<bench::fact> facts = bench::environment_of(call.chosen.dir);
  fmt::print("bench sinks --limits: loops in turn, {} MB a pass, median of {} pairs{}\n\n{}\n{}", call.chosen.bytes / 1'000'000,
             call.chosen.repeat, call.chosen.smoke ? ", SMOKE RUN: too small to mean anything" : "", bench::environment_text(facts),
             bench::limits_text(result));
  if (!call.csv.empty()) bench::write_file(call.csv, bench::limits_csv(result));
  if (!call.json.empty()) bench::write_file(call.json, bench::limits_json(result, call.chosen, facts));
  for (const std::string& failure : result.failures) fmt::print(stderr, "penstock: bench sinks: {}\n", failure);
  return result.failures.empty() && !result.interrupted ? done : work_failed;
}

}  // namespace penstock::cli
