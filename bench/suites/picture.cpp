// SPDX-License-Identifier: MIT
#include "bench/suites/picture.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "bench/suites/export.hpp"
#include "bench/suites/table.hpp"

extern char** environ;

namespace penstock::bench {
namespace {

constexpr int row_pixels = 26;

std::string gnuplot_path() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::string file = (folder.empty() ? "." : folder) + "/gnuplot";
    if (::access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

// Inside single quotes gnuplot knows one special thing: two quotes mean one.
std::string gnuplot_text(std::string_view text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> rows_to_draw(const suite_result& result) {
  std::vector<const figures*> first;
  for (const figures& row : result.rows) {
    const auto same = [&](const figures* one) { return one->row == row.row; };
    if (row.published.empty() && row.clock == clock_kind::close && std::none_of(first.begin(), first.end(), same)) first.push_back(&row);
  }
  std::stable_sort(first.begin(), first.end(), [](const figures* a, const figures* b) { return a->kind < b->kind; });
  std::vector<std::string> names;
  names.reserve(first.size());
  for (const figures* row : first) names.push_back(row->row);
  return names;
}

// A block of data for each size: y, median, least, greatest.
std::string data_blocks(const suite_result& result, const std::vector<std::string>& names) {
  std::string out;
  const std::size_t sizes = result.what.columns.size();
  for (std::size_t s = 0; s < sizes; ++s) {
    out += fmt::format("$size{} << EOD\n", s);
    const double offset = sizes > 1 ? (static_cast<double>(s) / static_cast<double>(sizes - 1) - 0.5) * 0.6 : 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const figures* row = result.find(names[i], result.what.columns[s].label, clock_kind::close);
      if (row == nullptr) continue;
      const auto shown = [&](double value) { return shown_value(*row, value); };
      out += fmt::format("{} {} {} {}\n", static_cast<double>(i) + offset, shown(row->values.median), shown(row->values.min),
                         shown(row->values.max));
    }
    out += "EOD\n";
  }
  return out;
}

bool size_has_data(const suite_result& result, const std::string& label) {
  return std::any_of(result.rows.begin(), result.rows.end(),
                     [&](const figures& row) { return row.published.empty() && row.size == label && row.clock == clock_kind::close; });
}

}  // namespace

void require_gnuplot() {
  if (gnuplot_path().empty())
    throw std::runtime_error(
        "gnuplot is needed for pictures and was not found in PATH; install it (Debian, Ubuntu: apt install gnuplot-nox)");
}

std::string picture_script(const suite_result& result, const std::filesystem::path& svg) {
  const std::vector<std::string> names = rows_to_draw(result);
  std::size_t widest = 0;
  for (const std::string& name : names) widest = std::max(widest, display_width(name));
  const auto height = static_cast<int>(names.size()) * row_pixels + 150;
  std::string out = fmt::format("set terminal svg noenhanced size 1000,{} font 'sans-serif,13' background 'white'\n", height);
  out += fmt::format("set output {}\n", gnuplot_text(svg.string()));
  out += fmt::format("set title {}\n", gnuplot_text(fmt::format("bench {}: {} ({})", result.what.name, result.what.title,
                                                                result.what.rate ? "more is better" : "less is better")));
  out += fmt::format("set xlabel {}\n",
                     gnuplot_text(shown_unit(result.what.unit) + ", close clock; median, bars from least to greatest, logarithmic"));
  out += "set logscale x\nset grid xtics mxtics ytics linetype 1 linecolor '#dddddd'\nset key below\nset encoding utf8\n";
  out += fmt::format("set lmargin {}\nset yrange [{}:-1] \n", widest + 4, names.size());
  out += "set ytics (";
  for (std::size_t i = 0; i < names.size(); ++i) out += fmt::format("{}{} {}", i == 0 ? "" : ", ", gnuplot_text(names[i]), i);
  out += ")\n" + data_blocks(result, names) + "plot ";
  bool first = true;
  constexpr int shapes[] = {4, 7, 8, 2, 12, 6, 5};  // square, dot, triangle, cross, diamond, circle, filled square
  for (std::size_t s = 0; s < result.what.columns.size(); ++s) {
    const std::string& label = result.what.columns[s].label;
    if (!size_has_data(result, label)) continue;
    out += fmt::format("{}$size{} using 2:1:3:4 with xerrorbars pointtype {} pointsize 0.8 linewidth 1 linecolor 'black' title {}",
                       first ? "" : ", ", s, shapes[s % std::size(shapes)], gnuplot_text(label));
    first = false;
  }
  if (first) throw std::runtime_error("there is nothing to draw");
  return out + "\n";
}

std::filesystem::path script_beside(const std::filesystem::path& svg) { return svg.string() + ".gnuplot"; }

void run_gnuplot(const std::string& script, const std::filesystem::path& svg) {
  require_gnuplot();
  const std::filesystem::path script_file = script_beside(svg);
  write_file(script_file, script);
  const std::string program = gnuplot_path();
  std::string argument = script_file.string();
  std::string name = "gnuplot";
  char* arguments[] = {name.data(), argument.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments, environ);
  int status = -1;
  if (error == 0)
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  std::filesystem::remove(script_file);
  if (error != 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw std::runtime_error("gnuplot could not draw " + svg.string() + "; what it said stands above");
}

void draw(const suite_result& result, const std::filesystem::path& svg) { run_gnuplot(picture_script(result, svg), svg); }

}  // namespace penstock::bench
