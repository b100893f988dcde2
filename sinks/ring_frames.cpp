// SPDX-License-Identifier: MIT
#include "sinks/ring_frames.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "sinks/crc32c.hpp"

namespace penstock::sinks {
namespace {

const frame_header& header_at(const ring_data& data, std::uint64_t position) noexcept {
  return *reinterpret_cast<const frame_header*>(data.at(position));
}

void append(frame_chain& chain, const frame_facts& frame) noexcept {
  if (!chain.oldest) {
    chain.oldest = frame;
    chain.begin = frame.position;
  }
  chain.newest = frame;
  chain.end = frame.end();
  ++chain.frame_count;
}

}  // namespace

std::optional<frame_facts> frame_at(const ring_data& data, std::uint64_t position) noexcept {
  const frame_header& header = header_at(data, position);
  // Pairs with the writer's release store of the mark: what the header and the lines hold was stored before it.
  const std::uint64_t mark = header.mark.load(std::memory_order_acquire);
  if (mark == 0) return std::nullopt;
  const frame_facts frame{.position = header.position,
                          .sequence = header.sequence,
                          .time_ns = header.time_ns,
                          .line_bytes = header.line_bytes,
                          .flags = header.flags,
                          .checksum = static_cast<std::uint32_t>(mark)};
  // A header of the open frame always fits behind the newest, without touching the oldest.
  if (frame.position != position || frame.end() - position + frame_header_bytes > data.bytes) return std::nullopt;
  if (frame_mark(data.file_id, frame) != mark) return std::nullopt;
  return frame;
}

bool lines_match(const frame_facts& frame, std::span<const std::byte> lines) noexcept {
  return (frame.flags & frame_has_checksum) == 0 || crc32c(lines) == frame.checksum;
}

frame_chain follow_chain(const ring_data& data, std::uint64_t tail, bool verify) noexcept {
  frame_chain chain{.begin = tail, .end = tail};
  if (tail % frame_alignment_bytes != 0) {
    chain.broken = true;
    return chain;
  }
  while (chain.end - tail + frame_header_bytes <= data.bytes) {
    const auto frame = frame_at(data, chain.end);
    const bool whole = frame && (!verify || lines_match(*frame, lines_of(data, *frame)));
    if (!whole || frame->end() - tail + frame_header_bytes > data.bytes) {
      chain.broken = frame.has_value() || header_at(data, chain.end).mark.load(std::memory_order_relaxed) != 0;
      break;
    }
    append(chain, *frame);
  }
  return chain;
}

frame_chain longest_chain(const ring_data& data) {
  std::vector<frame_facts> found;
  std::uint64_t offset = 0;
  while (offset < data.bytes) {
    std::uint64_t position = 0;
    std::memcpy(&position, data.begin + offset + offsetof(frame_header, position), sizeof position);
    // The cheap test first: there are millions of places, and only a header names its own.
    const bool possible = position % frame_alignment_bytes == 0 && position % data.bytes == offset;
    const auto frame = possible ? frame_at(data, position) : std::nullopt;
    if (frame && lines_match(*frame, lines_of(data, *frame))) {
      found.push_back(*frame);
      offset += frame->end() - frame->position;
    } else {
      offset += frame_alignment_bytes;
    }
  }
  std::ranges::sort(found, {}, &frame_facts::position);
  frame_chain best;
  frame_chain current;
  for (const frame_facts& frame : found) {
    if (current.frame_count != 0 && frame.position != current.end) current = {};
    append(current, frame);
    if (current.end - current.begin >= best.end - best.begin) best = current;
  }
  // Pieces of two laps may lie next to each other; only as much as the ring holds can be true.
  while (best.end - best.begin + frame_header_bytes > data.bytes) {
    best.oldest = frame_at(data, best.oldest->end());
    if (!best.oldest) return {};
    best.begin = best.oldest->position;
    --best.frame_count;
  }
  return best;
}

frame_chain chain_at_rest(const ring_data& data, std::uint64_t tail) {
  const frame_chain from_tail = follow_chain(data, tail, true);
  if (!from_tail.broken) return from_tail;
  const frame_chain longest = longest_chain(data);
  return longest.end - longest.begin > from_tail.end - from_tail.begin ? longest : from_tail;
}

}  // namespace penstock::sinks
