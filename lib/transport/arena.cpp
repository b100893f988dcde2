// SPDX-License-Identifier: MIT
#include "lib/transport/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>
#include <system_error>

namespace penstock::transport {

arena::arena(std::uint8_t index, std::size_t pages) : index_(index), pages_(pages) {
  const std::size_t bytes = 3 * pages * page_bytes;
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    throw std::system_error(
        errno, std::generic_category(),
        "cannot reserve " + std::to_string(bytes >> 20) + " MiB of address space for records; try a smaller backend.memory");
  base_ = static_cast<std::byte*>(base);
  // Only advice. Threads that log little have pages only: these stay small.
  ::madvise(base_ + static_cast<std::size_t>(chunk_kind::block) * pages * page_bytes, pages * page_bytes, MADV_HUGEPAGE);
  // Returning memory must never allocate.
  cold_pages_.reserve(pages);
  cold_blocks_.reserve(pages / block_pages);
  runs_.reserve(64);
}

chunk* arena::header_at(chunk_kind kind, std::size_t slot, std::size_t bytes) noexcept {
  const std::size_t slot_bytes = kind == chunk_kind::block ? block_bytes : page_bytes;
  std::byte* place = base_ + static_cast<std::size_t>(kind) * pages_ * page_bytes + slot * slot_bytes;
  auto* made = new (place) chunk;
  made->bytes = static_cast<std::uint32_t>(bytes);
  made->self = (chunk_ref{index_} << 56) | (static_cast<chunk_ref>(kind) << 48) | (slot + 1);
  return made;
}

chunk* arena::at(chunk_ref reference) noexcept {
  const auto kind = static_cast<std::size_t>((reference >> 48) & 0xFF);
  const auto slot = static_cast<std::size_t>((reference & 0xFFFF'FFFF'FFFF) - 1);
  const std::size_t slot_bytes = static_cast<chunk_kind>(kind) == chunk_kind::block ? block_bytes : page_bytes;
  return std::launder(reinterpret_cast<chunk*>(base_ + kind * pages_ * page_bytes + slot * slot_bytes));
}

chunk* arena::take_cold(chunk_kind kind, std::size_t run_pages) noexcept {
  const std::lock_guard lock(mutex_);
  if (kind == chunk_kind::run) return take_run(run_pages);
  std::vector<std::uint32_t>& cold = kind == chunk_kind::page ? cold_pages_ : cold_blocks_;
  const std::size_t bytes = kind == chunk_kind::page ? page_bytes : block_bytes;
  if (!cold.empty()) {
    const std::uint32_t slot = cold.back();
    cold.pop_back();
    return header_at(kind, slot, bytes);
  }
  std::size_t& fresh = kind == chunk_kind::page ? fresh_page_ : fresh_block_;
  if ((fresh + 1) * (bytes / page_bytes) > pages_) return nullptr;
  return header_at(kind, fresh++, bytes);
}

chunk* arena::take_run(std::size_t pages) noexcept {
  std::size_t start = 0;
  auto place = runs_.begin();
  for (; place != runs_.end() && place->first_page - start < pages; ++place) start = place->first_page + place->pages;
  if (start + pages > pages_ || runs_.size() == runs_.capacity()) return nullptr;
  runs_.insert(place, span{start, pages});
  return header_at(chunk_kind::run, start, pages * page_bytes);
}

void arena::make_cold(chunk* dead) noexcept {
  const chunk_kind kind = dead->kind();
  const auto slot = static_cast<std::uint32_t>((dead->self & 0xFFFF'FFFF'FFFF) - 1);
  ::madvise(dead, dead->bytes, MADV_DONTNEED);
  const std::lock_guard lock(mutex_);
  if (kind == chunk_kind::page) {
    cold_pages_.push_back(slot);
  } else if (kind == chunk_kind::block) {
    cold_blocks_.push_back(slot);
  } else {
    std::erase_if(runs_, [slot](const span& used) { return used.first_page == slot; });
  }
}

}  // namespace penstock::transport
