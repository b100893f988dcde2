// SPDX-License-Identifier: MIT
#include "bench/latency/logger_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "bench/suites/progress.hpp"
#include "bench/suites/scratch.hpp"

namespace penstock::bench {
namespace {

constexpr int run_seconds_max = 600;
/// The widest prefix, and BqLog's doubles.
constexpr std::uint64_t line_bytes_max = 160;

std::uint64_t file_bytes_max(const std::vector<workload>& all) {
  std::uint64_t most = 0;
  for (const workload& one : all) most = std::max(most, expected_lines(one) * (one.record_bytes + line_bytes_max));
  // A binary log and the text that is made of it stand side by side.
  return 2 * most;
}

std::vector<contender> chosen_contenders(const logger_bench_options& chosen, const std::filesystem::path& folder) {
  std::vector<contender> all = find_contenders(chosen.modes, folder);
  if (chosen.loggers.empty()) return all;
  for (const std::string& id : chosen.loggers) {
    if (std::any_of(all.begin(), all.end(), [&](const contender& one) { return one.id == id; })) continue;
    std::string there;
    for (const contender& one : all)
      if (there.find(one.id) == std::string::npos) there += (there.empty() ? "" : ", ") + one.id;
    throw std::invalid_argument(fmt::format("the logger {} is not there; this build has {}", id, there));
  }
  std::erase_if(
      all, [&](const contender& one) { return std::find(chosen.loggers.begin(), chosen.loggers.end(), one.id) == chosen.loggers.end(); });
  return all;
}

std::vector<std::string> notes_of(const std::vector<workload>& all) {
  std::vector<std::string> notes;
  const auto latency = std::find_if(all.begin(), all.end(), [](const workload& one) { return one.kind == workload_kind::latency; });
  if (latency != all.end()) {
    notes.push_back("latencies contain the measurement itself; \"empty\" is that of nothing, in the same loop");
    if (usable_cpus().size() < 2) notes.push_back("only one processor may be used: no thread was pinned, and callers wait for the backend");
    if (std::any_of(all.begin(), all.end(),
                    [](const workload& one) { return one.kind == workload_kind::latency && one.threads + 1 > usable_cpus().size(); }))
      notes.push_back("more threads than processors: the tails of that workload show the scheduler's time slices as well");
  }
  return notes;
}

}  // namespace

std::optional<summary> logger_row::of(std::string_view figure) const {
  std::vector<double> found;
  for (const run_figures& run : runs)
    if (const auto at = run.find(figure); at != run.end()) found.push_back(at->second);
  if (found.empty()) return std::nullopt;
  return summarise(std::move(found));
}

double logger_row::total(std::string_view figure) const {
  double sum = 0;
  for (const run_figures& run : runs)
    if (const auto at = run.find(figure); at != run.end()) sum += at->second;
  return sum;
}

bool logger_result::good() const {
  return !interrupted && std::all_of(rows.begin(), rows.end(), [](const logger_row& row) {
    const double wrong = row.total("lines_lost") + row.total("lines_wrong") + row.total("lines_repeated") + row.total("lines_disordered");
    return row.problems.empty() && (!row.ours() || wrong == 0);
  });
}

logger_result run_logger_bench(const logger_bench_options& chosen) {
  const std::vector<workload> all = workloads_of(chosen.work);
  const interrupt_watch watch;
  const scratch_folder folder(chosen.dir);
  logger_result result{.contenders = chosen_contenders(chosen, folder.path()), .notes = notes_of(all)};
  require_space(chosen.dir, file_bytes_max(all), "bench logger");
  progress line("bench logger", static_cast<double>(all.size() * chosen.repeat * result.contenders.size()));
  for (const workload& work : all) {
    const std::size_t first = result.rows.size();
    for (const contender& who : result.contenders) result.rows.push_back({.work = work, .who = who});
    for (std::size_t pass = 0; pass < chosen.repeat; ++pass) {
      for (std::size_t i = 0; i < result.contenders.size(); ++i) {
        // Each pass begins with another logger, so that none always runs after the same one.
        logger_row& row = result.rows[first + (i + pass) % result.contenders.size()];
        line.show(work.name + ", " + row.who.name);
        child_result run = run_child(row.who, work, folder.target(), run_seconds_max);
        result.interrupted = result.interrupted || interrupted();
        if (result.interrupted) return result;
        if (run.problem.empty())
          row.runs.push_back(std::move(run.figures));
        else
          row.problems.push_back(std::move(run.problem));
        line.step(1);
      }
    }
  }
  std::filesystem::remove(folder.target());
  return result;
}

}  // namespace penstock::bench
