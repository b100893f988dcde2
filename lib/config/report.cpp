// SPDX-License-Identifier: MIT
#include "lib/config/report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include <penstock/base/error.hpp>

#include "lib/config/values.hpp"

namespace penstock::detail {
namespace {

/// One line of bearable length, whatever the file holds: the beginning names the place, the end the remedy.
std::string readable(std::string text) {
  constexpr std::size_t part_bytes = 400;
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  if (text.size() <= 3 * part_bytes) return text;
  const auto inside_character = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U; };
  std::size_t head = part_bytes;
  std::size_t tail = text.size() - part_bytes;
  while (inside_character(head)) --head;
  while (inside_character(tail)) ++tail;
  return text.substr(0, head) + " [...] " + text.substr(tail);
}

}  // namespace

position report::place_of(std::string_view path) const {
  for (;;) {
    if (const auto found = places_.find(path); found != places_.end()) return found->second;
    const std::size_t dot = path.rfind('.');
    if (dot == std::string_view::npos) return places_.empty() ? position{} : position{1, 1};
    path = path.substr(0, dot);
  }
}

void report::add(std::string_view path, std::string_view text) { add_at(place_of(path), path, text); }

void report::add_at(position at, std::string_view path, std::string_view text) {
  if (faulty_.emplace(path).second) faults_.push_back({at, std::string{path}, std::string{text}});
}

std::vector<std::string> report::messages() const {
  std::vector<fault> sorted = faults_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const fault& a, const fault& b) { return a.at < b.at; });
  std::vector<std::string> out;
  for (const fault& f : sorted) {
    const std::string where = source_name_.empty() ? std::string{} : fmt::format("{}:{}:{}: ", source_name_, f.at.line, f.at.column);
    out.push_back(where + readable(fmt::format("{}: {}", f.path, f.text)));
  }
  return out;
}

void report::throw_if_faulty() const {
  if (!faults_.empty()) throw config_error(messages().front());
}

std::string path_to(std::string_view base, std::string_view name) {
  return base.empty() ? key_text(name) : fmt::format("{}.{}", base, key_text(name));
}

}  // namespace penstock::detail
