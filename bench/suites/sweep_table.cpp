// SPDX-License-Identifier: MIT
#include "bench/suites/sweep_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/suites/sink_rows.hpp"

namespace penstock::bench {
namespace {

struct quantile {
  const char* name;
  double fraction;
};
constexpr quantile quantiles[] = {{"p50", 0.5}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1.0}};

}  // namespace

void add_pass(sweep_row& row, const sweep_pass& pass) {
  ++row.passes;
  row.mb_per_s.push_back(static_cast<double>(pass.bytes) / 1e6 / pass.seconds);
  row.cpu_s_per_gb.push_back(pass.cpu_seconds / (static_cast<double>(pass.bytes) / 1e9));
  row.hand_over_us.insert(row.hand_over_us.end(), pass.hand_over_us.begin(), pass.hand_over_us.end());
}

std::string sweep_text(std::vector<sweep_row>& rows) {
  std::vector<std::vector<std::string>> lines{
      {"sink", "page cache", "batch", "MB/s", "(least-greatest)", "CPU s/GB", "p50 us", "p99 us", "p99.9 us", "max us", "calls/MB"}};
  std::vector<std::string> problems;
  bool moving = false;
  for (sweep_row& row : rows) {
    if (!row.problem.empty()) problems.push_back(fmt::format("* {}: {}\n", row.choice.name(), row.problem));
    if (row.passes == 0 || !row.problem.empty()) continue;
    std::sort(row.hand_over_us.begin(), row.hand_over_us.end());
    const summary rate = summarise(row.mb_per_s);
    const bool marked = rate.repeats > 1 && !rate.trusted();
    moving = moving || marked;
    std::vector<std::string> line{row.choice.type,
                                  std::string(text(row.choice.cache)),
                                  size_text(row.choice.batch_bytes),
                                  (marked ? "~" : "") + three_digits(rate.median),
                                  range_text(rate.min, rate.max),
                                  three_digits(summarise(row.cpu_s_per_gb).median)};
    for (const quantile& q : quantiles) line.push_back(three_digits(percentile(row.hand_over_us, q.fraction)));
    line.push_back(row.calls_per_mb ? three_digits(*row.calls_per_mb) : "?");
    lines.push_back(std::move(line));
  }
  std::string out = aligned(lines);
  out +=
      "\n* A pass ends when all is with the kernel; opening and closing are not in it. A hand-over is submit() until there is room again.\n"
      "* mmap_ring keeps the last 64 MiB, prepared before the clock; the others keep all. MB are decimal.\n"
      "* calls/MB are counted by ptrace in a pass of their own; \"?\": tracing is forbidden here.\n";
  if (moving) out += "* ~ this median cannot be trusted to 15 %: its passes differ too much.\n";
  for (const std::string& problem : problems) out += problem;
  return out;
}

std::string sweep_csv(std::vector<sweep_row>& rows) {
  std::string out = "suite,case,size,clock,unit,median,min,max,repeats,source\n";
  for (sweep_row& row : rows) {
    if (row.passes == 0 || !row.problem.empty()) continue;
    const std::string name = fmt::format("{} {}", row.choice.type, text(row.choice.cache));
    const auto add = [&](const char* clock, const std::string& unit, const summary& values) {
      out += fmt::format("sinks,{},{},{},{},{:.6g},{:.6g},{:.6g},{},measured\n", name, size_text(row.choice.batch_bytes), clock, unit,
                         values.median, values.min, values.max, values.repeats);
    };
    const auto one = [&](double value) { return summary{.median = value, .min = value, .max = value, .repeats = row.passes}; };
    add("close", "MB/s", summarise(row.mb_per_s));
    add("close", "CPU s/GB", summarise(row.cpu_s_per_gb));
    std::sort(row.hand_over_us.begin(), row.hand_over_us.end());
    for (const quantile& q : quantiles) add("return", fmt::format("us {}", q.name), one(percentile(row.hand_over_us, q.fraction)));
    if (row.calls_per_mb) add("close", "calls/MB", one(*row.calls_per_mb));
  }
  return out;
}

}  // namespace penstock::bench
