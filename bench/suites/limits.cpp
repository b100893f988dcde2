// SPDX-License-Identifier: MIT
#include "bench/suites/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "bench/suites/pass.hpp"
#include "bench/suites/progress.hpp"
#include "bench/suites/scratch.hpp"
#include "bench/suites/sink_sweep.hpp"

namespace penstock::bench {
namespace {

limit_loop_line& line_of(std::vector<limit_loop_line>& loops, const std::string& name) {
  const auto known = std::ranges::find(loops, name, &limit_loop_line::name);
  if (known != loops.end()) return *known;
  loops.push_back({.name = name});
  return loops.back();
}

void note(limit_loop_line& line, const loop_run& run) {
  line.bytes_per_second.push_back(run.bytes_per_second());
  line.thread_cpu_per_gb.push_back(run.thread_cpu_per_gb());
  line.process_cpu_per_gb.push_back(run.process_cpu_per_gb());
  if (run.call_us.empty()) return;
  line.call_p50_us.push_back(run.call_percentile_us(0.5));
  line.call_p999_us.push_back(run.call_percentile_us(0.999));
}

/// One experiment: its loops in turn. False: interrupted.
class experiment_run {
 public:
  experiment_run(const limit_experiment& what, int repeat, limits_result& into, progress& line)
      : what_(what), repeat_(static_cast<std::size_t>(repeat)), into_(into), progress_(line) {
    for (const limit_ratio& ratio : what.ratios) lines_.push_back({.ratio = ratio});
  }

  void run() {
    try {
      if (what_.prepare) what_.prepare();
      for (std::size_t attempt = 0; valid_ < repeat_ && attempt < 2 * repeat_ && !interrupted(); ++attempt) one(attempt);
      if (valid_ == 0 && discarded_ != 0) give_up("no pair was valid: " + discarded_because_);
    } catch (const unavailable& reason) {
      give_up(reason.what());
    } catch (const std::exception& error) {
      give_up(error.what());
      for (const limit_line& line : lines_)
        into_.failures.push_back(fmt::format("{} {}: {}", line.ratio.number, line.ratio.what, error.what()));
      if (lines_.empty()) into_.failures.emplace_back(error.what());
    }
    for (limit_line& line : lines_) {
      line.discarded = discarded_;
      line.discarded_because = discarded_because_;
      into_.lines.push_back(std::move(line));
    }
  }

 private:
  void one(std::size_t attempt) {
    std::vector<loop_run> runs(what_.loops.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
      // Who goes first may find the machine in another state than who goes last.
      const std::size_t which = attempt % 2 == 0 ? i : runs.size() - 1 - i;
      if (interrupted()) return;
      progress_.show(what_.loops[which].name);
      runs[which] = what_.loops[which].run();
    }
    if (what_.invalid) {
      if (std::string why = what_.invalid(runs); !why.empty()) {
        ++discarded_;
        discarded_because_ = std::move(why);
        return;
      }
    }
    ++valid_;
    progress_.step(static_cast<double>(runs.size()));
    for (std::size_t i = 0; i < runs.size(); ++i) note(line_of(into_.loops, what_.loops[i].name), runs[i]);
    for (limit_line& line : lines_)
      if (line.ratio.from) line.values.push_back(line.ratio.from(runs));
  }

  void give_up(const std::string& reason) {
    for (limit_line& line : lines_) {
      if (!line.ratio.from) continue;
      line.values.clear();
      line.ratio.reason = reason;
    }
  }

  const limit_experiment& what_;
  std::size_t repeat_;
  limits_result& into_;
  progress& progress_;
  std::vector<limit_line> lines_{};
  std::size_t valid_ = 0;
  std::size_t discarded_ = 0;
  std::string discarded_because_{};
};

int number_of(std::string_view word, std::string_view words) {
  int number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number < 1 || number > limit_count)
    throw std::invalid_argument(
        fmt::format("'{}' in '{}' is no row: rows are numbers from 1 to {} and ranges of them, as in 1-5,7", word, words, limit_count));
  return number;
}

}  // namespace

limit_verdict limit_line::verdict() const {
  if (values.empty()) return limit_verdict::not_measurable;
  if (!ratio.target) return limit_verdict::no_target;
  return ratio.target->met_by(summarise(values).median) ? limit_verdict::met : limit_verdict::missed;
}

std::string_view text(limit_verdict verdict) noexcept {
  switch (verdict) {
    case limit_verdict::met:
      return "met";
    case limit_verdict::missed:
      return "not met";
    case limit_verdict::no_target:
      return "no target";
    case limit_verdict::not_measurable:
      return "not measurable here";
  }
  return "?";
}

std::set<int> limit_rows(std::string_view words) {
  std::set<int> rows;
  std::string_view rest = words;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const std::string_view word = rest.substr(0, comma);
    rest.remove_prefix(more ? comma + 1 : rest.size());
    const std::size_t dash = word.find('-');
    const int first = number_of(word.substr(0, dash), words);
    const int last = dash == std::string_view::npos ? first : number_of(word.substr(dash + 1), words);
    if (last < first) throw std::invalid_argument(fmt::format("'{}' in '{}' runs backwards: write {}-{}", word, words, last, first));
    for (int row = first; row <= last; ++row) rows.insert(row);
  }
  return rows;
}

limits_result run_experiments(const std::vector<limit_experiment>& experiments, int repeat) {
  limits_result result;
  double weight = 0;
  for (const limit_experiment& one : experiments) weight += static_cast<double>(one.loops.size()) * repeat;
  progress line("bench sinks --limits", weight);
  for (const limit_experiment& one : experiments) experiment_run(one, repeat, result, line).run();
  std::ranges::stable_sort(result.lines, {}, [](const limit_line& each) { return each.ratio.number; });
  result.interrupted = interrupted();
  return result;
}

limits_result run_limits(const limit_options& chosen) {
  const bool sustained = chosen.rows.empty() || chosen.rows.contains(14);
  require_space(chosen.dir, (sustained ? 16 : 4) * chosen.bytes + (std::uint64_t{128} << 20), "bench sinks --limits");
  const interrupt_watch watch;
  const scratch_folder folder(chosen.dir);
  return run_experiments(limit_experiments(chosen, folder.target()), chosen.repeat);
}

}  // namespace penstock::bench
