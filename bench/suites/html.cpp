// SPDX-License-Identifier: MIT
#include "bench/suites/html.hpp"

#include <fmt/format.h>

#include "bench/suites/meaning.hpp"
#include "bench/suites/table.hpp"

namespace penstock::bench {
namespace {

constexpr const char* style =
    "body{font:15px/1.5 sans-serif;max-width:1100px;margin:2em auto;padding:0 1em;color:#111}"
    "table{border-collapse:collapse;margin:1em 0;font-size:13px}td,th{padding:.15em .7em;text-align:right;border-bottom:1px solid #ddd;"
    "white-space:nowrap}td:first-child,th:first-child{text-align:left}tr.group td{font-weight:bold;padding-top:.7em}"
    "tr.published td{color:#555;font-style:italic}div.wide{overflow-x:auto}svg{max-width:100%;height:auto}"
    "pre{overflow-x:auto;font-size:12px}.warning{font-weight:bold}";

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<div class=\"wide\"><table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    if (row.size() == 1) {
      out += fmt::format("<tr class=\"group\"><td colspan=\"{}\">{}</td></tr>\n", rows.front().size(), html_escaped(row[0]));
      continue;
    }
    const bool published = row[0].find("published,") != std::string::npos;
    out += published ? "<tr class=\"published\">" : "<tr>";
    for (const std::string& cell : row) out += fmt::format("<{0}>{1}</{0}>", i == 0 ? "th" : "td", html_escaped(cell));
    out += "</tr>\n";
  }
  return out + "</table></div>\n";
}

std::string html_list(const std::vector<std::string>& items) {
  std::string out = "<ul>\n";
  for (const std::string& item : items) out += "<li>" + html_escaped(item) + "</li>\n";
  return out + "</ul>\n";
}

std::string sentences(const std::vector<std::string>& texts) {
  std::string out = "<p>";
  for (const std::string& text : texts) out += html_escaped(text) + " ";
  return out + "</p>\n";
}

// An SVG file begins with an XML declaration, which a page may not have in its middle.
std::string_view svg_element(std::string_view svg) {
  const std::size_t begin = svg.find("<svg");
  return begin == std::string_view::npos ? std::string_view() : svg.substr(begin);
}

std::string suite_section(const suite_result& result, const std::string& picture) {
  std::string out = fmt::format("<h2 id=\"{0}\">{0}: {1}</h2>\n", result.what.name, html_escaped(result.what.title));
  out += sentences(meaning_of(result));
  if (!picture.empty()) out += "<figure>" + std::string(svg_element(picture)) + "</figure>\n";
  for (const clock_kind clock : {clock_kind::close, clock_kind::ret, clock_kind::sync, clock_kind::setup}) {
    const auto rows = table_of(result, clock);
    if (rows.empty()) continue;
    out += fmt::format("<h3>{}, {}: median (least-greatest){}</h3>\n", text(clock),
                       clock == clock_kind::setup ? "ms" : shown_unit(result.what.unit),
                       clock == result.what.post_clock ? "; the clock of the post" : "");
    out += html_table(rows);
  }
  return out + html_list(remarks(result));
}

}  // namespace

std::string html_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string html_page(report& all) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>penstock bench</title><style>{}</style></head><body>\n",
      style);
  out += "<h1>penstock bench: the published comparisons, and Penstock's sinks</h1>\n";
  if (all.interrupted) out += "<p class=\"warning\">INTERRUPTED: this is what was done until then.</p>\n";
  out +=
      fmt::format("<p>file {}, sync {}, cache {}{}. A median with a tilde cannot be trusted to 15 %.</p>\n<table>\n", text(all.chosen.file),
                  text(all.chosen.sync), text(all.chosen.cache), all.chosen.smoke ? ", SMOKE RUN: too small to mean anything" : "");
  for (const fact& one : all.environment)
    out += fmt::format("<tr><td>{}</td><td style=\"text-align:left;white-space:normal\">{}</td></tr>\n", html_escaped(one.name),
                       html_escaped(one.value));
  out += "</table>\n";
  for (std::size_t i = 0; i < all.suites.size(); ++i) out += suite_section(all.suites[i], i < all.pictures.size() ? all.pictures[i] : "");
  if (!all.sweep.empty()) {
    out += "<h2 id=\"sinks\">sinks: each sink as fast as it goes</h2>\n" + sentences(meaning_of(all.sweep));
    out += "<pre>" + html_escaped(sweep_text(all.sweep)) + "</pre>\n";
  }
  if (!all.logger_text.empty()) out += "<h2 id=\"logger\">logger: the front end</h2>\n<pre>" + html_escaped(all.logger_text) + "</pre>\n";
  return out + "</body></html>\n";
}

}  // namespace penstock::bench
