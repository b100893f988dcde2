// SPDX-License-Identifier: MIT
#include "lib/os/mapping.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "lib/os/pages.hpp"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // since Linux 5.14; glibc has it since 2.35
#endif

namespace penstock::os {
namespace {

/// The begin of `bytes` bytes of address space that are aligned to a huge page, inside `reserved`, which is larger by one; the rest is
/// unmapped.
std::byte* aligned_part(void* reserved, std::size_t bytes) noexcept {
  auto* const first = static_cast<std::byte*>(reserved);
  const auto misaligned_bytes = reinterpret_cast<std::uintptr_t>(first) % huge_page_bytes;
  const std::size_t before_bytes = misaligned_bytes == 0 ? 0 : huge_page_bytes - misaligned_bytes;
  if (before_bytes != 0) munmap(first, before_bytes);
  if (before_bytes != huge_page_bytes) munmap(first + before_bytes + bytes, huge_page_bytes - before_bytes);
  return first + before_bytes;
}

void* map_at(void* place, std::size_t bytes, int protection, int fd, std::size_t offset) {
  void* mapped = mmap(place, bytes, protection, MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of " + std::to_string(bytes) + " bytes");
  return mapped;
}

}  // namespace

std::size_t system_page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

mirrored_mapping::mirrored_mapping(int fd, const mirror_options& options)
    : header_bytes_(options.header_bytes), data_bytes_(options.data_bytes) {
  const std::size_t file_bytes = options.header_bytes + options.data_bytes;
  const std::size_t all_bytes = file_bytes + options.data_bytes;
  const std::size_t reserved_bytes = all_bytes + huge_page_bytes;
  void* reserved = mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "reserving " + std::to_string(reserved_bytes) + " bytes of address space");
  }
  std::byte* const aligned = aligned_part(reserved, all_bytes);

  const int protection = options.writable ? PROT_READ | PROT_WRITE : PROT_READ;
  try {
    map_at(aligned, file_bytes, protection, fd, 0);
    map_at(aligned + file_bytes, options.data_bytes, protection, fd, options.header_bytes);
  } catch (...) {
    munmap(aligned, all_bytes);
    throw;
  }
  base_ = aligned;
  if (madvise(base_, all_bytes, MADV_DONTFORK) != 0) {
    const int error = errno;
    reset();
    throw std::system_error(error, std::generic_category(), "madvise(MADV_DONTFORK)");
  }
  // Only advice: file systems without large folios refuse it, and everything works with small pages.
  madvise(base_, file_bytes, MADV_HUGEPAGE);
}

mirrored_mapping& mirrored_mapping::operator=(mirrored_mapping&& other) noexcept {
  if (this != &other) {
    reset();
    base_ = std::exchange(other.base_, nullptr);
    header_bytes_ = other.header_bytes_;
    data_bytes_ = other.data_bytes_;
  }
  return *this;
}

void mirrored_mapping::reset() noexcept {
  if (base_ == nullptr) return;
  munmap(base_, header_bytes_ + 2 * data_bytes_);
  base_ = nullptr;
}

int populate_for_writing(std::span<std::byte> range) noexcept {
  int result = 0;
  do {
    result = madvise(range.data(), range.size(), MADV_POPULATE_WRITE);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  touch_pages_for_writing(range);
  return 0;
}

std::byte* map_memory(std::size_t bytes, bool huge) noexcept {
  constexpr int protection = PROT_READ | PROT_WRITE;
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS;
  if (!huge) {
    // MAP_POPULATE write-faults private anonymous memory.
    void* const memory = mmap(nullptr, bytes, protection, flags | MAP_POPULATE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
  }
  const std::size_t mapped_bytes = round_up_to_huge_pages(bytes);
  void* const reserved = mmap(nullptr, mapped_bytes + huge_page_bytes, protection, flags | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  std::byte* const begin = aligned_part(reserved, mapped_bytes);
  madvise(begin, mapped_bytes, MADV_HUGEPAGE);  // only advice: small pages do as well
  if (populate_for_writing({begin, bytes}) == 0) return begin;
  unmap_memory(begin, bytes, huge);
  return nullptr;
}

void unmap_memory(std::byte* begin, std::size_t bytes, bool huge) noexcept {
  if (begin != nullptr) munmap(begin, huge ? round_up_to_huge_pages(bytes) : bytes);
}

void touch_pages_for_writing(std::span<std::byte> range) noexcept {
  for (std::size_t offset = 0; offset < range.size(); offset += system_page_bytes()) {
    volatile std::byte* const byte = range.data() + offset;
    *byte = *byte;
  }
}

}  // namespace penstock::os
