// SPDX-License-Identifier: MIT
#include "bench/latency/logger_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "bench/suites/export.hpp"
#include "bench/suites/table.hpp"

namespace penstock::bench {
namespace {

struct shown_figure {
  const char* name;   ///< among the figures of a run
  const char* label;  ///< above its column
  double scale;
};

// The columns of the table, as far as a workload has them.
constexpr std::array shown{
    shown_figure{"lines_per_s", "lines/s M", 1e-6},
    shown_figure{"mb_per_s", "MB/s", 1},
    shown_figure{"cpu_us_per_line", "CPU us/line", 1},
    shown_figure{"peak_memory_mb", "peak MB", 1},
    shown_figure{"p50_ns", "p50 ns", 1},
    shown_figure{"p90_ns", "p90", 1},
    shown_figure{"p99_ns", "p99", 1},
    shown_figure{"p99.9_ns", "p99.9", 1},
    shown_figure{"max_ns", "max", 1},
    shown_figure{"empty_p50_ns", "empty p50", 1},
    shown_figure{"idle_cpu_percent", "CPU %", 1},
    shown_figure{"idle_bytes_per_thread", "KiB/thread", 1.0 / 1024},
};

std::string what_is_measured(const workload& work) {
  switch (work.kind) {
    case workload_kind::throughput:
      return fmt::format("{}: {} thread{}, {} lines in all", work.name, work.threads, work.threads == 1 ? "" : "s", expected_lines(work));
    case workload_kind::latency:
      return fmt::format("{}: one call, {} thread{}, {} calls each in bursts of {}", work.name, work.threads, work.threads == 1 ? "" : "s",
                         work.calls, burst_calls);
    case workload_kind::long_records:
      return fmt::format("{}: {} records of {} bytes", work.name, work.calls, work.record_bytes);
    case workload_kind::idle:
      return fmt::format("{}: {} threads that have logged once and are silent", work.name, work.threads);
  }
  return work.name;
}

std::string figure_text(const logger_row& row, const shown_figure& figure) {
  const std::optional<summary> values = row.of(figure.name);
  // The peak of a latency run is mostly the samples.
  if (!values || (row.work.kind == workload_kind::latency && std::string_view(figure.name) == "peak_memory_mb")) return "";
  // The worst of all runs, since a median of maxima says nothing about what can happen.
  const double value = (std::string_view(figure.name) == "max_ns" ? values->max : values->median) * figure.scale;
  return (values->trusted() || values->repeats < 3 ? "" : "~") + three_digits(value);
}

/// The rows of one workload, with the columns that it has.
std::string block_text(std::span<const logger_row> rows) {
  std::vector<shown_figure> columns;
  for (const shown_figure& figure : shown)
    if (std::any_of(rows.begin(), rows.end(), [&](const logger_row& row) { return !figure_text(row, figure).empty(); }))
      columns.push_back(figure);
  std::vector<std::vector<std::string>> table{{"logger"}};
  for (const shown_figure& figure : columns) table.back().push_back(figure.label);
  table.back().push_back("lost");
  for (const logger_row& row : rows) {
    table.push_back({row.who.name});
    for (const shown_figure& figure : columns) table.back().push_back(figure_text(row, figure));
    table.back().push_back(row.runs.empty() ? "no run" : fmt::format("{:.0f}", row.total("lines_lost")));
  }
  return aligned(table);
}

std::string csv_number(double value) { return fmt::format("{:.6f}", value); }

struct csv_figure {
  const char* name;
  const char* clock;
  const char* unit;
};

constexpr std::array csv_figures{
    csv_figure{"lines_per_s", "close", "lines/s"},
    csv_figure{"mb_per_s", "close", "MB/s"},
    csv_figure{"returned_s", "return", "s"},
    csv_figure{"written_s", "close", "s"},
    csv_figure{"cpu_us_per_line", "close", "us CPU/line"},
    csv_figure{"peak_memory_mb", "close", "MB peak memory"},
    csv_figure{"p50_ns", "return", "ns p50"},
    csv_figure{"p90_ns", "return", "ns p90"},
    csv_figure{"p99_ns", "return", "ns p99"},
    csv_figure{"p99.9_ns", "return", "ns p99.9"},
    csv_figure{"max_ns", "return", "ns max"},
    csv_figure{"made_p99_ns", "return", "ns p99 of the calls made"},
    csv_figure{"made_p99.9_ns", "return", "ns p99.9 of the calls made"},
    csv_figure{"empty_p50_ns", "return", "ns p50 of an empty measurement"},
    csv_figure{"idle_cpu_percent", "idle", "% CPU"},
    csv_figure{"idle_bytes_per_thread", "idle", "bytes/thread"},
    csv_figure{"lines_lost", "close", "lines lost"},
};

std::string json_run(const run_figures& run) {
  std::string out = "{";
  for (const auto& [name, value] : run) out += fmt::format("{}{}: {:.12g}", out.size() == 1 ? "" : ", ", json_string(name), value);
  return out + "}";
}

}  // namespace

std::string logger_table_text(const logger_result& result) {
  std::string text;
  for (auto first = result.rows.begin(); first != result.rows.end();) {
    const auto last = std::find_if(first, result.rows.end(), [&](const logger_row& row) { return row.work.name != first->work.name; });
    text += (text.empty() ? "" : "\n") + what_is_measured(first->work) + "\n" + block_text({first, last});
    first = last;
  }
  return text;
}

std::vector<std::string> logger_remarks(const logger_result& result) {
  std::vector<std::string> remarks;
  for (const contender& one : result.contenders) remarks.push_back(fmt::format("{}: {}", one.name, one.settings));
  for (const std::string& note : result.notes) remarks.push_back(note);
  for (const logger_row& row : result.rows) {
    const std::string who = fmt::format("{}, {}: ", row.work.name, row.who.name);
    for (const std::string& problem : row.problems) remarks.push_back(fmt::format("{}a run {}", who, problem));
    const std::array<std::pair<const char*, const char*>, 4> kinds{{{"lines_lost", "lines are not in the file as they were sent"},
                                                                    {"lines_wrong", "lines are in the file with another text"},
                                                                    {"lines_repeated", "lines are in the file once more"},
                                                                    {"lines_disordered", "lines stand behind later ones of their thread"}}};
    for (const auto& [figure, text] : kinds)
      if (row.total(figure) != 0)
        remarks.push_back(fmt::format("{}{:.0f} of {:.0f} {}", who, row.total(figure), row.total("lines_sent"), text));
    if (row.total("calls_held_up") != 0)
      remarks.push_back(
          fmt::format("{}{:.0f} calls were added to {:.0f}, since a call that lasts longer than the pause holds up those due meanwhile",
                      who, row.total("calls_held_up"), row.total("calls")));
  }
  return remarks;
}

std::string logger_csv_text(const logger_result& result) {
  std::string out = "suite,case,size,clock,unit,median,min,max,repeats,source\n";
  for (const logger_row& row : result.rows) {
    for (const csv_figure& figure : csv_figures) {
      const std::optional<summary> values = row.of(figure.name);
      if (!values) continue;
      out += fmt::format("logger,{},{},{},{},{},{},{},{},measured\n", csv_field(row.who.name), row.work.name, figure.clock, figure.unit,
                         csv_number(values->median), csv_number(values->min), csv_number(values->max), values->repeats);
    }
  }
  return out;
}

std::string logger_json_text(const logger_result& result, const std::vector<fact>& facts) {
  std::string out = "{\n" + json_environment(facts);
  out += fmt::format(",\n\"suite\": \"logger\",\n\"interrupted\": {},\n\"notes\": {},\n\"loggers\": ", result.interrupted,
                     json_array(logger_remarks(result), ", ", json_string));
  out += json_array(result.contenders, ",\n  ", [](const contender& one) {
    return fmt::format("{{\"name\": {}, \"settings\": {}}}", json_string(one.name), json_string(one.settings));
  });
  out += ",\n\"results\": ";
  out += json_array(result.rows, ",\n  ", [&](const logger_row& row) {
    return fmt::format(
        "{{\"workload\": {}, \"logger\": {}, \"threads\": {}, \"calls\": {}, \"record_bytes\": {}, \"problems\": {}, \"runs\": {}}}",
        json_string(row.work.name), json_string(row.who.name), row.work.threads, row.work.calls, row.work.record_bytes,
        json_array(row.problems, ", ", json_string), json_array(row.runs, ", ", json_run));
  });
  return out + "\n}\n";
}

}  // namespace penstock::bench
