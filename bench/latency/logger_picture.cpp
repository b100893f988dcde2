// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bench/latency/logger_report.hpp"
#include "bench/suites/table.hpp"

namespace penstock::bench {
namespace {

constexpr int row_pixels = 26;
constexpr int panel_pixels = 130;

/// A set of marks of one shape: a figure of one workload.
struct series {
  std::string workload;
  std::string figure;
  std::string title;
  double scale = 1;
};

struct panel {
  std::string title;
  std::string unit;
  std::vector<series> marks{};
};

// Inside single quotes gnuplot knows one special thing: two quotes mean one.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::vector<panel> panels_of(const logger_result& result) {
  std::vector<panel> all{{"throughput (more is better)", "million lines a second"},
                         {"latency of one call (less is better)", "nanoseconds"},
                         {"long records (more is better)", "MB a second"}};
  std::string block;
  for (const logger_row& row : result.rows) {
    const std::string& name = row.work.name;
    if (name == block) continue;
    block = name;
    switch (row.work.kind) {
      case workload_kind::throughput:
        all[0].marks.push_back({name, "lines_per_s", name, 1e-6});
        break;
      case workload_kind::latency:
        for (const char* figure : {"p50", "p99", "p99.9"}) all[1].marks.push_back({name, figure + std::string("_ns"), name + " " + figure});
        break;
      case workload_kind::long_records:
        all[2].marks.push_back({name, "mb_per_s", name});
        break;
      case workload_kind::idle:
        break;
    }
  }
  std::erase_if(all, [](const panel& one) { return one.marks.empty(); });
  return all;
}

/// Lines of y, median, least, greatest; one for each logger that has the figure.
std::string data_of(const logger_result& result, const series& marks, double offset) {
  std::string out;
  for (const logger_row& row : result.rows) {
    if (row.work.name != marks.workload) continue;
    const std::optional<summary> values = row.of(marks.figure);
    // A logarithmic axis has no place for nothing.
    if (!values || values->min <= 0) continue;
    const auto at =
        std::find_if(result.contenders.begin(), result.contenders.end(), [&](const contender& one) { return one.name == row.who.name; });
    out += fmt::format("{} {} {} {}\n", static_cast<double>(at - result.contenders.begin()) + offset, values->median * marks.scale,
                       values->min * marks.scale, values->max * marks.scale);
  }
  return out;
}

std::string panel_script(const logger_result& result, const panel& one, std::size_t number) {
  constexpr int shapes[] = {4, 7, 8, 2, 12, 6, 5};
  std::string blocks;
  std::string plots;
  for (std::size_t i = 0; i < one.marks.size(); ++i) {
    const double offset = one.marks.size() > 1 ? (static_cast<double>(i) / static_cast<double>(one.marks.size() - 1) - 0.5) * 0.6 : 0;
    const std::string data = data_of(result, one.marks[i], offset);
    if (data.empty()) continue;
    blocks += fmt::format("$panel{}_{} << EOD\n{}EOD\n", number, i, data);
    plots += fmt::format("{}$panel{}_{} using 2:1:3:4 with xerrorbars pointtype {} pointsize 0.8 linewidth 1 linecolor 'black' title {}",
                         plots.empty() ? "" : ", ", number, i, shapes[i % std::size(shapes)], single_quoted(one.marks[i].title));
  }
  if (plots.empty()) return {};
  return fmt::format("{}set title {}\nset xlabel {}\nplot {}\n", blocks, single_quoted(one.title),
                     single_quoted(one.unit + "; median, bars from least to greatest, logarithmic"), plots);
}

}  // namespace

std::string logger_picture_script(const logger_result& result, const std::filesystem::path& svg) {
  const std::vector<panel> panels = panels_of(result);
  std::string plots;
  for (std::size_t i = 0; i < panels.size(); ++i) plots += panel_script(result, panels[i], i);
  if (plots.empty()) throw std::runtime_error("there is nothing to draw");
  std::size_t widest = 0;
  std::string tics;
  for (std::size_t i = 0; i < result.contenders.size(); ++i) {
    widest = std::max(widest, display_width(result.contenders[i].name));
    tics += fmt::format("{}{} {}", i == 0 ? "" : ", ", single_quoted(result.contenders[i].name), i);
  }
  const auto panel_height = static_cast<int>(result.contenders.size()) * row_pixels + panel_pixels;
  std::string out = fmt::format("set terminal svg noenhanced size 1000,{} font 'sans-serif,13' background 'white'\nset output {}\n",
                                panel_height * static_cast<int>(panels.size()), single_quoted(svg.string()));
  out += "set encoding utf8\nset logscale x\nset grid xtics mxtics ytics linetype 1 linecolor '#dddddd'\nset key below\n";
  out += fmt::format("set lmargin {}\nset yrange [{}:-1]\nset ytics ({})\nset multiplot layout {},1\n", widest + 4,
                     result.contenders.size(), tics, panels.size());
  return out + plots + "unset multiplot\n";
}

}  // namespace penstock::bench
