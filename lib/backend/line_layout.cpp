// SPDX-License-Identifier: MIT
#include "lib/backend/line_layout.hpp"

#include <algorithm>

namespace penstock::backend {

using kind = pattern_op::kind;

void padded_text::assign(std::string_view text) {
  room_.assign(std::max((text.size() + piece_bytes - 1) / piece_bytes, std::size_t{1}) * piece_bytes, '\0');
  std::copy(text.begin(), text.end(), room_.begin());
  bytes_ = text.size();
}

// Both are written, since a copy that reads what was stored just before would wait for it.
void line_frame::put_digits(char* copy, wall_ns time) noexcept {
  const auto nanoseconds = static_cast<std::uint32_t>(time - second_start);
  for (const fraction_place& place : places) {
    put_fraction(copy + place.offset, nanoseconds, place.digits);
    put_fraction(before.data() + place.offset, nanoseconds, place.digits);
  }
  digits_are_of(time);
}

line_layout::line_layout(std::string_view pattern, control_chars_policy control_chars, bool colour)
    : ops_(compile_pattern(pattern)), renderer_(colour), escapes_(control_chars == control_chars_policy::escape) {
  const auto message = [](const pattern_op& op) { return op.what == kind::message; };
  const auto first = std::find_if(ops_.begin(), ops_.end(), message);
  const bool one = std::count_if(ops_.begin(), ops_.end(), message) == 1;
  // Behind the message only what does not change from line to line.
  simple_ = one && first->width == 0 && std::none_of(first, ops_.end(), [](const pattern_op& op) { return op.what == kind::time; });
}

void line_layout::render(line_frame& kept, const line_source& line) {
  std::string text;
  kept.site = nullptr;  // There may be no memory for the rest.
  kept.places.clear();
  const auto split = std::find_if(ops_.begin(), ops_.end(), [](const pattern_op& op) { return op.what == kind::message; });
  for (auto op = ops_.begin(); op != split; ++op) renderer_.append(text, *op, line, kept.places);
  kept.before.assign(text);
  text.clear();
  std::vector<fraction_place> none;
  for (auto op = split == ops_.end() ? split : split + 1; op != ops_.end(); ++op) renderer_.append(text, *op, line, none);
  text += '\n';
  kept.after.assign(text);
  kept.copied_bytes = kept.before.copied_bytes() + kept.after.copied_bytes();
  std::int64_t second = line.time / 1'000'000'000;
  if (line.time % 1'000'000'000 < 0) --second;
  kept.second_start = second * 1'000'000'000;
  // Shown to the microsecond, to the nanosecond, or not at all.
  const bool to_nanoseconds = std::any_of(kept.places.begin(), kept.places.end(), [](const fraction_place& p) { return p.digits > 6; });
  kept.digits_ns = kept.places.empty() ? 1'000'000'000 : to_nanoseconds ? 1 : 1'000;
  kept.digits_are_of(line.time);
  kept.site = line.site;
  kept.stream = line.stream;
  kept.logger_index = line.logger_index;
  kept.source_line = line.body.source->line;
}

void line_layout::compose(std::string& out, const line_source& line, std::string_view message) {
  out.clear();
  std::vector<fraction_place> places;
  for (const pattern_op& op : ops_) {
    if (op.what != kind::message) {
      renderer_.append(out, op, line, places);
      continue;
    }
    const std::size_t start = out.size();
    out += message;
    pattern_renderer::pad(out, start, op, nullptr);
  }
  out += '\n';
}

void line_layout::forget() noexcept {
  for (line_frame& kept : frames_) kept.site = nullptr;
}

std::shared_ptr<line_layout> layout_set::layout_of(const std::string& pattern, control_chars_policy control_chars, bool colour) {
  std::shared_ptr<line_layout>& made = made_[{pattern, control_chars, colour}];
  if (made == nullptr)
    made = std::make_shared<line_layout>(pattern, control_chars, colour);
  else
    made->share();
  return made;
}

}  // namespace penstock::backend
