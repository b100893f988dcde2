// SPDX-License-Identifier: MIT
#include "bench/suites/export.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "bench/suites/raw_io.hpp"

namespace penstock::bench {
namespace {

// Six significant digits: more than any clock here is worth, and no exponent.
std::string number(double value) {
  if (value >= 1e6) return fmt::format("{:.0f}", value);
  return fmt::format("{:.6g}", value).find('e') == std::string::npos ? fmt::format("{:.6g}", value) : fmt::format("{:.9f}", value);
}

std::string json_row(const figures& row) {
  return fmt::format(
      "    {{\"case\": {}, \"group\": {}, \"size\": {}, \"clock\": \"{}\", \"unit\": \"{}\", \"median\": {}, \"min\": {}, \"max\": {}, "
      "\"low\": {}, \"high\": {}, \"repeats\": {}, \"first\": {}, \"trusted\": {}, \"source\": \"{}\", \"machine\": {}}}",
      json_string(row.row), json_string(text(row.kind)), json_string(row.size), text(row.clock), row.unit, number(row.values.median),
      number(row.values.min), number(row.values.max), number(row.values.low), number(row.values.high), row.values.repeats,
      row.first > 0 ? number(row.first) : "null", row.published.empty() ? (row.values.trusted() ? "true" : "false") : "null",
      row.published.empty() ? "measured" : "published", row.published.empty() ? "null" : json_string(row.published));
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out + "\"";
}

std::string json_environment(const std::vector<fact>& facts) {
  std::string out = "\"environment\": {";
  for (std::size_t i = 0; i < facts.size(); ++i)
    out += fmt::format("{}\n  {}: {}", i == 0 ? "" : ",", json_string(facts[i].name), json_string(facts[i].value));
  return out + "\n}";
}

std::string csv_text(const std::vector<suite_result>& results) {
  std::string out = "suite,case,size,clock,unit,median,min,max,repeats,source\n";
  for (const suite_result& result : results) {
    for (const figures& row : result.rows)
      out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", result.what.name, csv_field(row.row), csv_field(row.size), text(row.clock),
                         row.unit, number(row.values.median), number(row.values.min), number(row.values.max), row.values.repeats,
                         row.published.empty() ? "measured" : "published");
  }
  return out;
}

std::string json_text(const std::vector<suite_result>& results, const options& chosen, const std::vector<fact>& facts) {
  std::string out = "{\n" + json_environment(facts);
  out += fmt::format(",\n\"file\": \"{}\", \"sync\": \"{}\", \"cache\": \"{}\", \"smoke\": {},\n\"suites\": [", text(chosen.file),
                     text(chosen.sync), text(chosen.cache), chosen.smoke);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const suite_result& result = results[i];
    out += fmt::format("{}\n  {{\"suite\": \"{}\", \"title\": {}, \"interrupted\": {}, \"notes\": {}, \"failures\": {}, \"results\": [",
                       i == 0 ? "" : ",", result.what.name, json_string(result.what.title), result.interrupted,
                       json_array(result.notes, ", ", json_string), json_array(result.failures, ", ", json_string));
    for (std::size_t j = 0; j < result.rows.size(); ++j) out += (j == 0 ? "\n" : ",\n") + json_row(result.rows[j]);
    out += "\n  ]}";
  }
  return out + "\n]\n}\n";
}

std::string result_file_problem(const std::filesystem::path& file) {
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::status(file, error);
  int refusal = 0;
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there)) {
    // Opening a FIFO would wait for its reader, or be taken for its end.
    refusal = std::filesystem::is_directory(there) ? EISDIR : ::access(file.c_str(), W_OK) != 0 ? errno : 0;
  } else {
    const os::descriptor opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (!opened.valid())
      refusal = errno;
    else if (!std::filesystem::exists(there))
      std::filesystem::remove(file, error);
  }
  if (refusal == 0) return {};
  return fmt::format("{} cannot be written: {}; nothing was measured; name another file{}", file.string(),
                     std::generic_category().message(refusal), refusal == ENOENT ? ", or make its folder" : "");
}

void write_file(const std::filesystem::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (!out) fail("cannot write", file);
}

}  // namespace penstock::bench
