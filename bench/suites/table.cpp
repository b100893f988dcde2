// SPDX-License-Identifier: MIT
#include "bench/suites/table.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::bench {
namespace {

// The order in which the clocks are shown: what a reader looks for first comes first.
constexpr std::array shown_clocks{clock_kind::close, clock_kind::ret, clock_kind::sync, clock_kind::setup};

const char* meaning(clock_kind clock) {
  switch (clock) {
    case clock_kind::setup:
      return "opening, allocating, mapping";
    case clock_kind::ret:
      return "until the last write call returned";
    case clock_kind::close:
      return "until all is with the kernel and the file is closed";
    case clock_kind::sync:
      return "until fdatasync of the closed file returned";
  }
  return "";
}

struct row_name {
  std::string name;
  row_kind kind;
};

std::vector<row_name> row_names(const suite_result& result, clock_kind clock) {
  std::vector<row_name> names;
  for (const figures& row : result.rows) {
    if (row.clock != clock) continue;
    const auto same = [&](const row_name& one) { return one.name == row.row; };
    if (std::none_of(names.begin(), names.end(), same)) names.push_back({row.row, row.kind});
  }
  std::stable_sort(names.begin(), names.end(), [](const row_name& a, const row_name& b) { return a.kind < b.kind; });
  return names;
}

std::vector<std::string> machines(const suite_result& result, const std::string& row) {
  std::vector<std::string> names;
  for (const figures& one : result.rows)
    if (one.row == row && !one.published.empty() && std::find(names.begin(), names.end(), one.published) == names.end())
      names.push_back(one.published);
  return names;
}

std::vector<std::string> cells_of(const suite_result& result, const std::string& label, const std::string& row, clock_kind clock,
                                  const std::string& machine) {
  std::vector<std::string> cells{label};
  for (const column& size : result.what.columns) {
    const auto at = std::find_if(result.rows.begin(), result.rows.end(), [&](const figures& one) {
      return one.row == row && one.size == size.label && one.clock == clock && one.published == machine;
    });
    cells.push_back(at == result.rows.end() ? "-" : cell_text(*at));
  }
  return cells;
}

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    // Three-byte leads 0xe3 to 0xed hold the East Asian scripts, Hangul among them.
    width += length == 3 && lead >= 0xe3 && lead <= 0xed ? 2 : 1;
    i += length;
  }
  return width;
}

std::string padded(std::string_view text, std::size_t width) {
  const std::size_t shown = display_width(text);
  return std::string(text) + std::string(width > shown ? width - shown : 0, ' ');
}

std::string aligned(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    if (row.size() < 2) continue;
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == 0)
        out += row.size() == 1 ? row[0] : padded(row[0], widths[0]);
      else
        out += "  " + std::string(widths[i] - display_width(row[i]), ' ') + row[i];
    }
    out += '\n';
  }
  return out;
}

std::string shown_unit(const std::string& unit) { return unit == "bytes/s" ? "MB/s" : unit; }

double shown_value(const figures& row, double value) { return row.unit == "bytes/s" ? value / 1e6 : value; }

std::string cell_text(const figures& row) {
  const auto shown = [&](double value) { return three_digits(shown_value(row, value)); };
  if (row.values.repeats == 1) return shown(row.values.median);
  const char* mark = row.published.empty() && row.clock != clock_kind::setup && !row.values.trusted() ? "~" : "";
  return fmt::format("{}{} ({}-{})", mark, shown(row.values.median), shown(row.values.min), shown(row.values.max));
}

std::vector<std::vector<std::string>> table_of(const suite_result& result, clock_kind clock) {
  std::vector<std::vector<std::string>> rows;
  const std::vector<row_name> names = row_names(result, clock);
  const bool measured =
      std::any_of(result.rows.begin(), result.rows.end(), [&](const figures& row) { return row.clock == clock && row.published.empty(); });
  if (names.empty() || !measured) return rows;
  std::vector<std::string> heading{""};
  for (const column& size : result.what.columns) heading.push_back(size.label);
  rows.push_back(std::move(heading));
  const row_kind* block = nullptr;
  for (const row_name& name : names) {
    if (block == nullptr || *block != name.kind) rows.push_back({std::string(text(name.kind)) + ":"});
    block = &name.kind;
    rows.push_back(cells_of(result, "  " + name.name, name.name, clock, ""));
    if (clock != result.what.post_clock) continue;
    for (const std::string& machine : machines(result, name.name))
      rows.push_back(cells_of(result, "    published, " + machine, name.name, clock, machine));
  }
  return rows;
}

std::string tables_text(const suite_result& result) {
  std::string out;
  for (clock_kind clock : shown_clocks) {
    const auto rows = table_of(result, clock);
    if (rows.empty()) continue;
    const bool post = clock == result.what.post_clock;
    out += fmt::format("\n{} ({}), {}: median (least-greatest)\n", text(clock), meaning(clock),
                       clock == clock_kind::setup ? "ms" : shown_unit(result.what.unit));
    if (post) out.insert(out.size() - 1, "; the clock of the post");
    out += aligned(rows);
  }
  return out;
}

std::string heading_text(const suite_result& result, const options& chosen) {
  return fmt::format("bench {}: {}\nfile {}, sync {}, cache {}{}\n", result.what.name, result.what.title, text(chosen.file),
                     text(chosen.sync), text(chosen.cache), chosen.smoke ? ", SMOKE RUN: sizes too small to mean anything" : "");
}

std::string environment_text(const std::vector<fact>& facts) {
  std::string out;
  for (const fact& one : facts) out += fmt::format("{:<12} {}\n", one.name, one.value);
  return out;
}

std::vector<std::string> remarks(const suite_result& result) {
  std::vector<std::string> out = result.what.notes;
  out.insert(out.end(), result.notes.begin(), result.notes.end());
  std::size_t cells = 0;
  std::size_t moving = 0;
  std::size_t few = 0;
  for (const figures& row : result.rows) {
    if (!row.published.empty() || row.clock == clock_kind::setup) continue;
    ++cells;
    if (row.values.repeats < 5) ++few;
    if (row.values.repeats > 1 && !row.values.trusted()) ++moving;
  }
  if (moving > 0)
    out.push_back(
        fmt::format("~ {} of {} medians cannot be trusted to 15 %: their passes differ too much. Quieten the machine or raise --repeat.",
                    moving, cells));
  if (few > 0) out.push_back(fmt::format("{} of {} medians rest on fewer than 5 passes.", few, cells));
  for (const std::string& failure : result.failures) out.push_back("FAILED: " + failure);
  if (result.interrupted) out.push_back("INTERRUPTED: what follows is what was done until then.");
  return out;
}

}  // namespace penstock::bench
