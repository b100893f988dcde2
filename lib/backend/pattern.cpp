// SPDX-License-Identifier: MIT
#include "lib/backend/pattern.hpp"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <penstock/base/error.hpp>

namespace penstock::backend {

namespace {

using kind = pattern_op::kind;

constexpr std::array<std::string_view, 10> field_names{"",       "time", "level", "thread",   "process",
                                                       "logger", "file", "line",  "function", "message"};
// Terminal colours by level: grey, cyan, none, yellow, red, bold red.
constexpr std::array<std::string_view, level_count> level_colours{"\033[90m", "\033[36m", "", "\033[33m", "\033[31m", "\033[1;31m"};

std::size_t character_bytes(std::string_view text) noexcept {
  const auto lead = static_cast<unsigned char>(text.front());
  return std::min<std::size_t>(lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4, text.size());
}

std::size_t columns_of(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_align(char c) noexcept { return c == '<' || c == '>' || c == '^'; }

pattern_op compile_field(std::string_view field) {
  const std::size_t colon = field.find(':');
  const auto name = std::find(field_names.begin() + 1, field_names.end(), field.substr(0, colon));
  if (name == field_names.end()) throw config_error("pattern: unknown field {" + std::string(field) + "}");
  pattern_op op;
  op.what = static_cast<kind>(name - field_names.begin());
  if (op.what == kind::line) op.align = '>';  // As fmt aligns numbers.
  if (colon == std::string_view::npos) return op;
  std::string_view spec = field.substr(colon + 1);
  const std::size_t fill_bytes = spec.empty() ? 0 : character_bytes(spec);
  if (spec.size() > fill_bytes && is_align(spec[fill_bytes])) {
    op.fill = spec.substr(0, fill_bytes);
    op.align = spec[fill_bytes];
    spec.remove_prefix(fill_bytes + 1);
  } else if (!spec.empty() && is_align(spec.front())) {
    op.align = spec.front();
    spec.remove_prefix(1);
  }
  const auto [end, error] = std::from_chars(spec.data(), spec.data() + spec.size(), op.width);
  if (error == std::errc{}) spec.remove_prefix(static_cast<std::size_t>(end - spec.data()));
  if (!spec.empty() && op.what != kind::time) throw config_error("pattern: {" + std::string(field) + "} is not understood");
  op.text = spec;
  return op;
}

void append_number(std::string& out, long long value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void append_strftime(std::string& out, const std::string& format, const tm& civil) {
  if (format.empty()) return;
  std::array<char, 4096> text{};
  out.append(text.data(), ::strftime(text.data(), text.size(), format.c_str(), &civil));
}

}  // namespace

std::vector<pattern_op> compile_pattern(std::string_view pattern) {
  std::vector<pattern_op> ops;
  const auto literal = [&ops](char c) {
    if (ops.empty() || ops.back().what != kind::literal) ops.emplace_back();
    ops.back().text += c;
  };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const bool brace = c == '{' || c == '}';
    if (!brace || (i + 1 < pattern.size() && pattern[i + 1] == c)) {
      literal(c);
      i += brace ? 1 : 0;
      continue;
    }
    const std::size_t end = pattern.find('}', i);
    if (c == '}' || end == std::string_view::npos) throw config_error("pattern: a brace without its counterpart");
    ops.push_back(compile_field(pattern.substr(i + 1, end - i - 1)));
    i = end;
  }
  return ops;
}

void pattern_renderer::append_time(std::string& out, const pattern_op& op, wall_ns time, std::vector<fraction_place>& places) {
  std::int64_t second = time / 1'000'000'000;
  std::int64_t rest = time % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --second;
  }
  const auto seconds = static_cast<time_t>(second);
  tm civil{};
  ::localtime_r(&seconds, &civil);
  const auto fraction = [&](std::uint32_t digits) {
    places.push_back({static_cast<std::uint32_t>(out.size()), digits});
    out.append(digits, '0');
    put_fraction(out.data() + out.size() - digits, static_cast<std::uint32_t>(rest), digits);
  };
  if (op.text.empty()) {
    append_strftime(out, "%Y-%m-%dT%H:%M:%S.", civil);
    fraction(6);
    std::string offset;
    append_strftime(offset, "%z", civil);
    if (offset.size() == 5) offset.insert(3, 1, ':');
    out += offset;
    return;
  }
  std::string piece;
  for (std::size_t i = 0; i < op.text.size(); ++i) {
    const bool pair = op.text[i] == '%' && i + 1 < op.text.size();
    const char conversion = pair ? op.text[i + 1] : '\0';
    if (conversion == 'f' || conversion == 'N') {
      append_strftime(out, piece, civil);
      piece.clear();
      fraction(conversion == 'f' ? 6 : 9);
      ++i;
      continue;
    }
    piece += op.text[i];
    if (pair) piece += op.text[++i];
  }
  append_strftime(out, piece, civil);
}

void pattern_renderer::append(std::string& out, const pattern_op& op, const line_source& line, std::vector<fraction_place>& places) {
  const std::size_t start = out.size();
  const std::size_t first_place = places.size();
  switch (op.what) {
    case kind::literal:
      out += op.text;
      return;
    case kind::time:
      append_time(out, op, line.time, places);
      break;
    case kind::level:
      out += name_of(line.record_level());
      break;
    case kind::thread:
      append_number(out, line.thread_id);
      break;
    case kind::process:
      append_number(out, ::getpid());
      break;
    case kind::logger:
      out += line.logger;
      break;
    case kind::file: {
      const char* base = std::strrchr(line.body.source->file, '/');
      out += base == nullptr ? line.body.source->file : base + 1;
      break;
    }
    case kind::line:
      append_number(out, line.body.source->line);
      break;
    case kind::function:
      out += line.body.source->function;
      break;
    case kind::message:
      break;  // The caller's.
  }
  std::vector<fraction_place> own(places.begin() + static_cast<std::ptrdiff_t>(first_place), places.end());
  pad(out, start, op, &own);
  std::copy(own.begin(), own.end(), places.begin() + static_cast<std::ptrdiff_t>(first_place));
  if (op.what == kind::level && colour_) {
    const std::string_view colour = level_colours[static_cast<std::size_t>(line.record_level())];
    if (colour.empty()) return;
    out.insert(start, colour);
    out += "\033[0m";
  }
}

void pattern_renderer::pad(std::string& out, std::size_t start, const pattern_op& op, std::vector<fraction_place>* places) {
  const std::size_t columns = columns_of(std::string_view(out).substr(start));
  if (columns >= op.width) return;
  const std::size_t missing = op.width - columns;
  const std::size_t before = op.align == '<' ? 0 : op.align == '>' ? missing : missing / 2;
  std::string left;
  for (std::size_t i = 0; i < before; ++i) left += op.fill;
  out.insert(start, left);
  for (std::size_t i = before; i < missing; ++i) out += op.fill;
  if (places != nullptr)
    for (fraction_place& place : *places) place.offset += static_cast<std::uint32_t>(left.size());
}

}  // namespace penstock::backend
