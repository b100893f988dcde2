// SPDX-License-Identifier: MIT
// The address space of the record memory. Three areas as large as the budget each (pages, blocks, runs) are reserved; the exchange sees to
// it that never more than the budget is resident in all of them together. Arenas live for ever: a thread may hold a chunk over stop and
// start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "lib/transport/chunk.hpp"

namespace penstock::transport {

class arena {
 public:
  /// Reserves address space for a budget of `pages` pages, without memory behind it.
  ///
  /// Errors: std::system_error (ENOMEM) if the address space is limited.
  arena(std::uint8_t index, std::size_t pages);
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

  std::size_t pages() const noexcept { return pages_; }
  std::uint8_t index() const noexcept { return index_; }

  /// A chunk whose memory is not resident; null if none of this kind is left. `run_pages` only for runs.
  ///
  /// Thread: any.
  chunk* take_cold(chunk_kind kind, std::size_t run_pages = 0) noexcept;

  /// Takes a chunk's memory away and keeps its address for take_cold(). Pages of neighbours are not touched.
  void make_cold(chunk* dead) noexcept;

  /// The chunk that `reference` names; it must be one of this arena.
  chunk* at(chunk_ref reference) noexcept;

 private:
  struct span {
    std::size_t first_page;
    std::size_t pages;
  };

  chunk* header_at(chunk_kind kind, std::size_t slot, std::size_t bytes) noexcept;
  chunk* take_run(std::size_t pages) noexcept;

  std::uint8_t index_;
  std::size_t pages_;
  std::byte* base_ = nullptr;
  std::mutex mutex_;
  std::size_t fresh_page_ = 0;  // Never used pages and blocks start here.
  std::size_t fresh_block_ = 0;
  std::vector<std::uint32_t> cold_pages_;
  std::vector<std::uint32_t> cold_blocks_;
  std::vector<span> runs_;  // In use, by first page.
};

}  // namespace penstock::transport
