// SPDX-License-Identifier: MIT
#include "lib/backend/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

namespace penstock::backend {

namespace {

constexpr std::size_t spill_bytes_kept = std::size_t{1} << 20;  // Larger room comes from rare records and is given back.

// Replaces what is laid out so far by a line that says what went wrong. A formatter's own text is the user's: it is cut, not trusted.
void put_error(const source_facts& source, const char* what, detail::text_out& out) noexcept {
  try {
    fmt::memory_buffer text;
    fmt::format_to(fmt::appender(text), "{} [format error: {}] ({}:{})", source.format, std::string_view(what).substr(0, 500), source.file,
                   source.line);
    out.pos = out.begin;
    std::memcpy(out.room(text.size()), text.data(), text.size());
    out.pos += text.size();
  } catch (...) {
    out.pos = out.begin;  // No memory even for that: the record is an empty line.
  }
}

template <class Call>
void guarded(const source_facts& source, detail::text_out& out, Call call) noexcept {
  try {
    call();
  } catch (const std::exception& error) {
    put_error(source, error.what(), out);
  } catch (...) {
    put_error(source, "an exception that is no std::exception", out);
  }
}

void grow_into_spill(detail::text_out& out, std::size_t more_bytes) {
  auto& text = static_cast<spilling_text&>(out);
  const auto kept = static_cast<std::size_t>(text.pos - text.begin);
  char* room = text.spill.make_room(text.begin, kept, kept + more_bytes);
  text.begin = room;
  text.pos = room + kept;
  text.end = room + text.spill.capacity_bytes();
}

}  // namespace

char* text_spill::make_room(const char* from, std::size_t kept_bytes, std::size_t bytes) {
  if (from == room_.get() && bytes <= capacity_bytes_) return room_.get();
  if (bytes > capacity_bytes_) {
    const std::size_t grown = std::max({bytes, capacity_bytes_ + capacity_bytes_ / 2, std::size_t{4096}});
    std::unique_ptr<char[]> larger(new char[grown]);
    if (kept_bytes > 0) std::memcpy(larger.get(), from, kept_bytes);
    room_ = std::move(larger);
    capacity_bytes_ = grown;
  } else if (kept_bytes > 0) {
    std::memcpy(room_.get(), from, kept_bytes);
  }
  return room_.get();
}

void text_spill::trim() noexcept {
  if (capacity_bytes_ <= spill_bytes_kept) return;
  room_.reset();
  capacity_bytes_ = 0;
}

spilling_text::spilling_text(char* room_begin, char* room_end, text_spill& overflow) noexcept : spill(overflow) {
  begin = pos = room_begin;
  end = room_end;
  grow = grow_into_spill;
}

void lay_out_record(const detail::call_site& site, const source_facts& source, const std::byte* arguments, detail::text_out& out) noexcept {
  guarded(source, out, [&] { site.layout(arguments, source, out); });
}

void lay_out_by(void (*format)(const void* context, detail::text_out& out), const void* context, const source_facts& source,
                detail::text_out& out) noexcept {
  guarded(source, out, [&] { format(context, out); });
}

record_view::record_view(const detail::record_header& record) noexcept
    : source(&record.site->source), payload(reinterpret_cast<const std::byte*>(&record + 1)), payload_bytes(record.payload_bytes()) {
  if ((record.site->flags & detail::site_source_in_record) == 0) return;
  source = reinterpret_cast<const source_facts*>(payload);
  payload += sizeof(source_facts);
  payload_bytes -= sizeof(source_facts);
}

}  // namespace penstock::backend
