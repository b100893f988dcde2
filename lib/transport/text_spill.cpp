// SPDX-License-Identifier: MIT
#include "lib/transport/text_spill.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace penstock::transport {

namespace {

constexpr std::size_t line_bytes = 64;

}  // namespace

void text_spill::line_deleter::operator()(char* room) const noexcept { ::operator delete (room, std::align_val_t{line_bytes}); }

char* text_spill::make_room(const char* from, std::size_t kept_bytes, std::size_t bytes) {
  if (from == room_.get() && bytes <= capacity_bytes_) return room_.get();
  if (bytes > capacity_bytes_) {
    const std::size_t grown =
        (std::max({bytes, capacity_bytes_ + capacity_bytes_ / 2, std::size_t{4096}}) + line_bytes - 1) & ~(line_bytes - 1);
    decltype(room_) larger(static_cast<char*>(::operator new (grown, std::align_val_t{line_bytes})));
    if (kept_bytes > 0) std::memcpy(larger.get(), from, kept_bytes);
    room_ = std::move(larger);
    capacity_bytes_ = grown;
  } else if (kept_bytes > 0) {
    std::memcpy(room_.get(), from, kept_bytes);
  }
  return room_.get();
}

void text_spill::give_back() noexcept {
  room_.reset();
  capacity_bytes_ = 0;
}

void spilling_text::grow_into_spill(detail::text_out& out, std::size_t more_bytes) {
  auto& text = static_cast<spilling_text&>(out);
  const auto kept = static_cast<std::size_t>(text.pos - text.begin);
  char* room = text.spill.make_room(text.begin, kept, kept + more_bytes);
  text.begin = room;
  text.pos = room + kept;
  text.end = room + text.spill.capacity_bytes();
}

}  // namespace penstock::transport
