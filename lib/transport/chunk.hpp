// SPDX-License-Identifier: MIT
// A chunk holds records of one thread, in order. It starts with this header; records follow, each at a multiple of 8 bytes.
//
//   | chunk (64 bytes) | record | record | ... | unused |
//                                              ^ committed_bytes, from the chunk's start
//
// Links are references (arena, kind, slot), never addresses, so that chunks can live in a shared file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <penstock/detail/stream_front.hpp>

#include "lib/os/pages.hpp"

namespace penstock::transport {

/// The two sizes of chunks, and runs of pages for single records that fit neither.
enum class chunk_kind : std::uint8_t { page, block, run };

using os::page_bytes;  // The size of the smaller kind.
// ~2,000 records. Opening one takes about a microsecond: with 64 KiB that was one call in a thousand, and the p99.9 of all.
inline constexpr std::size_t block_bytes = std::size_t{128} << 10;
inline constexpr std::size_t block_pages = block_bytes / page_bytes;

/// Names a chunk: arena in the top 8 bits, kind in the next 8, slot index + 1 below. 0 names none.
using chunk_ref = std::uint64_t;

/// In place of a link: the thread has let go of this chunk and has no other yet.
inline constexpr chunk_ref no_chunk_yet = ~chunk_ref{0};

struct alignas(64) chunk : detail::chunk_front {
  std::uint32_t bytes;          ///< of the whole chunk; written before it is handed to a thread
  std::atomic<chunk_ref> next;  ///< the chunk that follows; set by the thread (release) when it seals this one; the reader acquires
  chunk_ref self;               ///< its own reference
  chunk* older;                 ///< the start that was handed over before this one and not taken yet; see thread_stream::starts_

  std::byte* begin() noexcept { return reinterpret_cast<std::byte*>(this); }
  std::byte* end() noexcept { return begin() + bytes; }
  chunk_kind kind() const noexcept { return static_cast<chunk_kind>((self >> 48) & 0xFF); }
  std::size_t pages() const noexcept { return bytes / page_bytes; }
};
static_assert(sizeof(chunk) == 64);

/// Bytes for records in a chunk of `bytes` bytes.
constexpr std::size_t chunk_room(std::size_t bytes) noexcept { return bytes - sizeof(chunk); }

}  // namespace penstock::transport
