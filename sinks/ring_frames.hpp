// SPDX-License-Identifier: MIT
// Finds the frames in a ring's data area: one by one, the chain of all, or what is left of it after a power cut. Nothing that stands in the
// file is trusted: every position and length is checked before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "sinks/ring_format.hpp"

namespace penstock::sinks {

/// A data area that is mapped twice in a row.
struct ring_data {
  const std::byte* begin = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t file_id = 0;

  const std::byte* at(std::uint64_t position) const noexcept { return begin + position % bytes; }
};

/// The committed frame whose header stands at `position`, if there is one. Its lines may be overwritten at any time while the writer lives.
std::optional<frame_facts> frame_at(const ring_data& data, std::uint64_t position) noexcept;

inline std::span<const std::byte> lines_of(const ring_data& data, const frame_facts& frame) noexcept {
  return {data.at(frame.position) + frame_header_bytes, frame.line_bytes};
}

/// Whether `lines`, read from the frame, are what was committed; true for frames without a checksum.
bool lines_match(const frame_facts& frame, std::span<const std::byte> lines) noexcept;

/// An unbroken run of frames.
struct frame_chain {
  std::uint64_t begin = 0;  ///< position of the oldest frame
  std::uint64_t end = 0;    ///< position behind the newest
  std::uint64_t frame_count = 0;
  std::optional<frame_facts> oldest{};
  std::optional<frame_facts> newest{};
  bool broken = false;  ///< what stands at `end` is neither a committed frame nor the mark of an open one: pages are missing
};

/// Follows the frames from `tail` on. With `verify`, a frame whose lines do not match their checksum breaks the chain.
frame_chain follow_chain(const ring_data& data, std::uint64_t tail, bool verify) noexcept;

/// Looks at every place of the data area, for a file whose pages reached the medium in another order than they were written: the longest
/// unbroken run of frames that match. May throw std::bad_alloc.
frame_chain longest_chain(const ring_data& data);

/// The chain of a file that nobody writes: from `tail` on, or the longest one if that is broken and shorter.
frame_chain chain_at_rest(const ring_data& data, std::uint64_t tail);

}  // namespace penstock::sinks
