// SPDX-License-Identifier: MIT
// The mmap ring file: what the writer lays out and the reader understands. docs/ring_format.md tells it with a worked example.
//
//   file:   | ring_header, one page | data: frames of any length, each right behind the last, wrapping at the end of the file |
//   frame:  | frame_header (40) | line bytes ... | padding 0..7 |
//
// A *position* counts the bytes laid out since the file was made and never wraps; the byte at position p stands at offset p % data_bytes of
// the data area. The frames from `tail` on, one after the other, are the log; the first header whose mark is 0 ends it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace penstock::sinks {

/// Not a text (the first byte), and damaged visibly by a text-mode copy (the last).
inline constexpr std::array<char, 8> ring_magic{'\x89', 'P', 'S', 'R', 'I', 'N', 'G', '\n'};
inline constexpr std::uint32_t ring_version = 1;

/// The least size of a ring file: enough pages that a batch is never more than a quarter of the data area.
inline constexpr std::size_t ring_file_bytes_min = std::size_t{64} << 10;

enum class ring_state : std::uint32_t {
  creating = 0,  ///< blocks are being allocated: nothing was ever written; the next writer begins anew
  ready = 1,
};

/// The first page of the file. All numbers are little-endian. Written by the process that holds the file's lock; `tail` changes while
/// readers look, the owner at start and end, `state` once, the rest never.
struct ring_header {
  std::array<char, 8> magic;
  std::uint32_t version;
  std::uint32_t header_bytes;  ///< of this page: where the data area begins
  std::uint64_t file_bytes;
  std::uint64_t file_id;  ///< random; part of each mark, so that frames of another file, or in a line's text, are not taken for ours
  std::int64_t created_ns;
  std::atomic<ring_state> state;
  std::uint32_t padding_bytes;

  /// Position of the oldest frame. Stored (release fence behind it) before the bytes of that frame's predecessor are overwritten; a reader
  /// loads it again (acquire fence before it) after copying, and drops its copy if it has moved past it.
  alignas(64) std::atomic<std::uint64_t> tail;

  /// Who writes; 0 once it closed the ring. The birth (os::process_birth) tells a process from a later one of the same pid.
  alignas(64) std::atomic<std::uint64_t> owner_birth;
  std::atomic<std::uint32_t> owner_pid;
  std::atomic<std::uint32_t> owner_stopped;  ///< 1 after stop(): its end is in order, though single lines may still come
};
static_assert(sizeof(ring_header) == 192 && offsetof(ring_header, tail) == 64 && offsetof(ring_header, owner_birth) == 128);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<ring_state>::is_always_lock_free);
static_assert(std::endian::native == std::endian::little, "the ring format is little-endian, and written as memory has it");

enum frame_flags : std::uint32_t {
  frame_continues_line = 1,  ///< the first byte goes on with the line that the frame before left unfinished
  frame_has_checksum = 2,    ///< the low half of the mark is the CRC-32C of the line bytes; otherwise it is 0
};

/// In front of the lines of one batch.
struct frame_header {
  /// 0 while the frame is laid out. frame_mark() once it is committed, by a release store that pairs with the reader's acquire.
  std::atomic<std::uint64_t> mark;
  std::uint64_t position;  ///< of this header
  std::uint64_t sequence;  ///< frames are numbered from 1 on; a restart goes on
  std::int64_t time_ns;    ///< Unix time of the first line
  std::uint32_t line_bytes;
  std::uint32_t flags;
};
static_assert(sizeof(frame_header) == 40 && alignof(frame_header) == 8);

inline constexpr std::size_t frame_header_bytes = sizeof(frame_header);
inline constexpr std::size_t frame_alignment_bytes = 8;

/// The facts of a frame, copied out of the file.
struct frame_facts {
  std::uint64_t position = 0;
  std::uint64_t sequence = 0;
  std::int64_t time_ns = 0;
  std::uint32_t line_bytes = 0;
  std::uint32_t flags = 0;
  std::uint32_t checksum = 0;

  bool continues_line() const noexcept { return (flags & frame_continues_line) != 0; }
  /// Position of the next frame's header.
  std::uint64_t end() const noexcept {
    constexpr std::uint64_t mask = frame_alignment_bytes - 1;
    return position + frame_header_bytes + ((std::uint64_t{line_bytes} + mask) & ~mask);
  }
};

/// A well-mixed 64-bit number from another. Source: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t mixed(std::uint64_t value) noexcept {
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
  value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
  return value ^ (value >> 31);
}

/// The mark of a committed frame: a check of the header's own fields in the high half, never 0, and the checksum of the lines in the low.
constexpr std::uint64_t frame_mark(std::uint64_t file_id, const frame_facts& frame) noexcept {
  std::uint64_t check = mixed(file_id ^ frame.position);
  check = mixed(check ^ frame.sequence);
  check = mixed(check ^ static_cast<std::uint64_t>(frame.time_ns));
  check = mixed(check ^ frame.line_bytes ^ (std::uint64_t{frame.flags} << 32));
  return (check & 0xFFFF'FFFE'0000'0000U) | 0x0000'0001'0000'0000U | frame.checksum;
}

}  // namespace penstock::sinks
