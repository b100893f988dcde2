// SPDX-License-Identifier: MIT
#include "sinks/batch_sink.hpp"

#include <algorithm>

namespace penstock::sinks {

batch batch_sink::lend(lend_request) noexcept {
  const cut end = line_end_wished_ ? cut::lines : end_;
  if (holds() || memory_.bytes() == 0) return {{}, end};
  if (!lent_) {
    room_ = memory_.room_at(next_offset());
    // The spare page is for the phase only: a write of one page more than a power of two costs a fifth more (measured,
    // ext4 with large folios).
    if (spare_page_ && os::page_phase(next_offset()) == 0) room_ = room_.first(room_.size() - os::page_bytes);
    lent_ = true;
  }
  return {room_, end};
}

outcome batch_sink::submit(std::size_t used_bytes) noexcept {
  if (!lent_ || holds()) return held_because_;
  lent_ = false;
  if (used_bytes == 0) return {};
  starts_line_ = !mid_line() || seam_;
  held_ = room_.first(std::min(used_bytes, room_.size()));
  return push();
}

outcome batch_sink::resume() noexcept { return holds() ? push() : outcome{}; }

outcome batch_sink::push() noexcept {
  if (seam_) {
    static constexpr std::byte newline{'\n'};
    const os::write_result result = put({&newline, 1});
    if (result.done_bytes == 0) return held_because_ = result.result;
    seam_ = false;
    last_byte_ = newline;
  }
  const os::write_result result = put(held_);
  if (result.done_bytes > 0) last_byte_ = held_[result.done_bytes - 1];
  held_ = held_.subspan(result.done_bytes);
  if (holds()) return held_because_ = result.result;
  held_because_ = {};
  if (!mid_line()) {
    line_end_wished_ = false;
    at_line_end();
  }
  return {};
}

std::size_t batch_sink::abandon() noexcept {
  const std::size_t lost_bytes = held_.size();
  held_ = {};
  held_because_ = {};
  // The line that was under way has lost its end, or its middle: what comes next is another line.
  if (lost_bytes > 0) seam_ = mid_line();
  return lost_bytes;
}

outcome batch_sink::flush() noexcept { return holds() ? held_because_ : outcome{}; }

void batch_sink::destination_changed(std::byte last_byte) noexcept {
  if (holds() && mid_line()) {
    const std::byte* begin = held_.data();
    while (begin != room_.data() && *(begin - 1) != std::byte{'\n'}) --begin;
    if (begin != room_.data() || starts_line_) held_ = {begin, held_.data() + held_.size()};
  }
  last_byte_ = last_byte;
  seam_ = mid_line();
  line_end_wished_ = false;
}

}  // namespace penstock::sinks
