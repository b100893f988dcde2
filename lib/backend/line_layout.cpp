// SPDX-License-Identifier: MIT
#include "lib/backend/line_layout.hpp"

#include <algorithm>

namespace penstock::backend {

using kind = pattern_op::kind;

void padded_text::assign(std::string_view text) {
  room_.assign((text.size() + piece_bytes - 1) / piece_bytes * piece_bytes, '\0');
  std::copy(text.begin(), text.end(), room_.begin());
  bytes_ = text.size();
}

line_layout::line_layout(std::string_view pattern, control_chars_policy control_chars, bool colour)
    : ops_(compile_pattern(pattern)), renderer_(colour), escapes_(control_chars == control_chars_policy::escape) {
  const auto message = [](const pattern_op& op) { return op.what == kind::message; };
  const auto first = std::find_if(ops_.begin(), ops_.end(), message);
  const bool one = std::count_if(ops_.begin(), ops_.end(), message) == 1;
  // Behind the message only what does not change from line to line.
  simple_ = one && first->width == 0 && std::none_of(first, ops_.end(), [](const pattern_op& op) { return op.what == kind::time; });
}

void line_layout::render(line_frame& kept, const frame_key& key, const line_facts& facts) {
  std::string text;
  kept.places.clear();
  const auto split = std::find_if(ops_.begin(), ops_.end(), [](const pattern_op& op) { return op.what == kind::message; });
  for (auto op = ops_.begin(); op != split; ++op) renderer_.append(text, *op, facts, kept.places);
  kept.before.assign(text);
  text.clear();
  std::vector<fraction_place> none;
  for (auto op = split == ops_.end() ? split : split + 1; op != ops_.end(); ++op) renderer_.append(text, *op, facts, none);
  text += '\n';
  kept.after.assign(text);
  std::int64_t second = facts.time / 1'000'000'000;
  if (facts.time % 1'000'000'000 < 0) --second;
  kept.second_start = second * 1'000'000'000;
  kept.key = key;
}

void line_layout::compose(std::string& line, const line_facts& facts, std::string_view message) {
  line.clear();
  std::vector<fraction_place> places;
  for (const pattern_op& op : ops_) {
    if (op.what != kind::message) {
      renderer_.append(line, op, facts, places);
      continue;
    }
    const std::size_t start = line.size();
    line += message;
    pattern_renderer::pad(line, start, op, nullptr);
  }
  line += '\n';
}

void line_layout::forget() noexcept {
  for (line_frame& kept : frames_) kept.key = {};
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
