// SPDX-License-Identifier: MIT
#include "bench/suites/published.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <stdexcept>

namespace penstock::bench {
namespace {

// "p1-mac-3" is the third run on "p1-mac".
std::string machine_of(std::string run) {
  const std::size_t dash = run.rfind('-');
  if (dash == std::string::npos || dash + 1 == run.size()) return run;
  const bool numbered =
      std::all_of(run.begin() + static_cast<std::ptrdiff_t>(dash) + 1, run.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (numbered) run.resize(dash);
  return run;
}

}  // namespace

std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        fields.back() += line[++i];
      else
        quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

std::vector<figures> published_figures(const suite& what) {
  std::vector<figures> rows;
  std::vector<std::vector<double>> values;
  for (const embedded_file& file : embedded_files()) {
    if (file.name != what.name) continue;
    std::string_view rest = file.text;
    for (bool heading = true; !rest.empty(); heading = false) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::vector<std::string> fields = csv_fields(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (heading || fields.size() < 5) continue;
      const std::string machine = machine_of(fields[4]);
      const auto same = [&](const figures& row) { return row.row == fields[0] && row.size == fields[1] && row.published == machine; };
      auto at = std::find_if(rows.begin(), rows.end(), same);
      if (at == rows.end()) {
        rows.push_back({.row = fields[0], .size = fields[1], .clock = what.post_clock, .unit = fields[2], .published = machine});
        values.emplace_back();
        at = rows.end() - 1;
      }
      values[static_cast<std::size_t>(at - rows.begin())].push_back(std::stod(fields[3]));
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].values = summarise(values[i]);
  return rows;
}

}  // namespace penstock::bench
