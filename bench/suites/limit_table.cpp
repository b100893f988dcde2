// SPDX-License-Identifier: MIT
// The ratios as a table, as CSV and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "bench/suites/export.hpp"
#include "bench/suites/limits.hpp"
#include "bench/suites/table.hpp"

namespace penstock::bench {
namespace {

std::string target_text(const limit_ratio& ratio) {
  if (!ratio.target) return "-";
  return fmt::format("{} {}{}{}", ratio.target->at_most ? "≤" : "≥", ratio.target->value, ratio.unit.empty() ? "" : " ", ratio.unit);
}

std::string with_unit(const limit_ratio& ratio, double value) { return three_digits(value) + (ratio.unit.empty() ? "" : " " + ratio.unit); }

std::string ratio_table(const limits_result& result) {
  std::vector<std::vector<std::string>> rows{{" #  what", "ours", "(least-greatest)", "target", "verdict", "pairs"}};
  for (const limit_line& line : result.lines) {
    std::vector<std::string> row{fmt::format("{:2}  {}", line.ratio.number, line.ratio.what)};
    if (line.values.empty()) {
      row.insert(row.end(), {"-", "-"});
    } else {
      const summary values = summarise(line.values);
      const bool moves = values.repeats > 1 && !values.trusted();
      row.push_back((moves ? "~" : "") + with_unit(line.ratio, values.median));
      row.push_back(range_text(values.min, values.max));
    }
    row.push_back(target_text(line.ratio));
    row.emplace_back(text(line.verdict()));
    row.push_back(std::to_string(line.values.size()));
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

std::string loop_table(const limits_result& result) {
  std::vector<std::vector<std::string>> rows{
      {"loop", "MB/s", "(least-greatest)", "thread CPU s/GB", "process CPU s/GB", "p50 us", "p99.9 us", "runs"}};
  const auto median = [](const std::vector<double>& values) {
    return values.empty() ? std::string("-") : three_digits(summarise(values).median);
  };
  for (const limit_loop_line& line : result.loops) {
    const summary rate = summarise(line.bytes_per_second);
    rows.push_back({line.name, three_digits(rate.median / 1e6), range_text(rate.min / 1e6, rate.max / 1e6), median(line.thread_cpu_per_gb),
                    median(line.process_cpu_per_gb), median(line.call_p50_us), median(line.call_p999_us), std::to_string(rate.repeats)});
  }
  return rows.size() == 1 ? std::string() : aligned(rows);
}

std::string remarks_of(const limits_result& result) {
  std::string out;
  bool moves = false;
  std::string last;  // parts of a row have their reasons in common
  for (const limit_line& line : result.lines) {
    const auto add = [&](const std::string& remark) {
      const std::string whole = fmt::format("* {}: {}\n", line.ratio.number, remark);
      if (whole != last) out += whole;
      last = whole;
    };
    if (line.values.empty()) add("not measurable here: " + (line.ratio.reason.empty() ? "interrupted" : line.ratio.reason));
    if (line.discarded != 0 && !line.values.empty()) add(fmt::format("{} discarded, since {}", line.discarded, line.discarded_because));
    moves = moves || (line.values.size() > 1 && !summarise(line.values).trusted());
  }
  if (moves) out += "* ~ this median cannot be trusted to 15 %: its pairs differ too much.\n";
  if (result.interrupted) out += "* INTERRUPTED: this is what was done until then.\n";
  return out;
}

std::string number_list(const std::vector<double>& values) {
  return json_array(values, ", ", [](double value) { return fmt::format("{:.6g}", value); });
}

}  // namespace

std::string limits_text(const limits_result& result) {
  std::string out = ratio_table(result) + "\n";
  if (const std::string loops = loop_table(result); !loops.empty()) out += loops + "\n";
  out += "* A ratio is the median of its pairs; their loops ran in turn, every second pair in reverse order. MB are decimal.\n";
  return out + remarks_of(result);
}

std::string limits_csv(const limits_result& result) {
  std::string out = "number,what,unit,median,min,max,target,verdict,pairs,discarded,reason\n";
  for (const limit_line& line : result.lines) {
    const summary values = line.values.empty() ? summary{} : summarise(line.values);
    const std::string figures = line.values.empty() ? ",," : fmt::format("{:.6g},{:.6g},{:.6g}", values.median, values.min, values.max);
    const std::string target =
        line.ratio.target ? fmt::format("{}{:g}", line.ratio.target->at_most ? "<=" : ">=", line.ratio.target->value) : "";
    out += fmt::format("{},{},{},{},{},{},{},{},{}\n", line.ratio.number, csv_field(line.ratio.what),
                       line.ratio.unit.empty() ? "ratio" : line.ratio.unit, figures, target, text(line.verdict()), line.values.size(),
                       line.discarded, csv_field(line.values.empty() ? line.ratio.reason : line.discarded_because));
  }
  return out;
}

std::string limits_json(const limits_result& result, const limit_options& chosen, const std::vector<fact>& facts) {
  std::string out = "{\n" + json_environment(facts);
  out +=
      fmt::format(",\n\"bytes\": {}, \"smoke\": {}, \"interrupted\": {},\n\"ratios\": [", chosen.bytes, chosen.smoke, result.interrupted);
  for (std::size_t i = 0; i < result.lines.size(); ++i) {
    const limit_line& line = result.lines[i];
    out += fmt::format(
        "{}\n  {{\"number\": {}, \"what\": {}, \"unit\": {}, \"median\": {}, \"values\": {}, \"target\": {}, \"at_most\": {}, "
        "\"verdict\": {}, \"discarded\": {}, \"reason\": {}}}",
        i == 0 ? "" : ",", line.ratio.number, json_string(line.ratio.what),
        json_string(line.ratio.unit.empty() ? "ratio" : line.ratio.unit),
        line.values.empty() ? "null" : fmt::format("{:.6g}", summarise(line.values).median), number_list(line.values),
        line.ratio.target ? fmt::format("{:g}", line.ratio.target->value) : "null",
        line.ratio.target ? (line.ratio.target->at_most ? "true" : "false") : "null", json_string(text(line.verdict())), line.discarded,
        json_string(line.values.empty() ? line.ratio.reason : line.discarded_because));
  }
  out += "\n],\n\"loops\": [";
  for (std::size_t i = 0; i < result.loops.size(); ++i) {
    const limit_loop_line& line = result.loops[i];
    out += fmt::format(
        "{}\n  {{\"loop\": {}, \"bytes_per_second\": {}, \"thread_cpu_s_per_GB\": {}, \"process_cpu_s_per_GB\": {}, \"call_p50_us\": {}, "
        "\"call_p99.9_us\": {}}}",
        i == 0 ? "" : ",", json_string(line.name), number_list(line.bytes_per_second), number_list(line.thread_cpu_per_gb),
        number_list(line.process_cpu_per_gb), number_list(line.call_p50_us), number_list(line.call_p999_us));
  }
  return out + "\n]\n}\n";
}

}  // namespace penstock::bench
