// SPDX-License-Identifier: MIT
#include "sinks/uring_buffers.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>

#include "lib/os/mapping.hpp"

namespace penstock::sinks {
namespace {

// Half of the default RLIMIT_MEMLOCK (8 MiB), which counts for all of a user's processes. Source: measured, 7 MiB: ENOMEM.
constexpr std::size_t registered_bytes_max = std::size_t{4} << 20;

constinit std::atomic<std::size_t> registered_bytes_total = 0;

}  // namespace

uring_buffers::uring_buffers(unsigned count, std::size_t bytes_each, bool direct)
    : count_(count), bytes_each_(os::round_up_to_pages(bytes_each)), huge_(direct), begin_(nullptr), process_(::getpid()) {
  free_.reserve(count_);
  for (unsigned index = count_; index > 0; --index) free_.push_back(index - 1);
  begin_ = map();
  if (begin_ == nullptr) throw std::bad_alloc();
  if (std::byte* const mark = os::map_memory(os::page_bytes, false); mark != nullptr) {
    // Linux 4.14; before that getpid(2) tells.
    if (::madvise(mark, os::page_bytes, MADV_WIPEONFORK) == 0) {
      birth_mark_ = reinterpret_cast<volatile unsigned char*>(mark);
      *birth_mark_ = 1;
    } else {
      os::unmap_memory(mark, os::page_bytes, false);
    }
  }
}

uring_buffers::~uring_buffers() {
  release_registration();
  os::unmap_memory(begin_, mapped_bytes(), huge_);
  if (birth_mark_ != nullptr) ::munmap(const_cast<unsigned char*>(birth_mark_), os::page_bytes);
}

std::byte* uring_buffers::map() const noexcept {
  std::byte* const memory = os::map_memory(mapped_bytes(), huge_);
  if (memory != nullptr) ::madvise(memory, mapped_bytes(), MADV_DONTFORK);
  return memory;
}

unsigned uring_buffers::take() noexcept {
  const unsigned index = free_.back();
  free_.pop_back();
  return index;
}

bool uring_buffers::replace() noexcept {
  std::byte* const fresh = map();
  if (fresh == nullptr) return false;
  begin_ = fresh;
  free_.clear();
  for (unsigned index = count_; index > 0; --index) free_.push_back(index - 1);
  return true;
}

bool uring_buffers::in_child() const noexcept { return birth_mark_ != nullptr ? *birth_mark_ == 0 : ::getpid() != process_; }

bool uring_buffers::reserve_registration() noexcept {
  const std::size_t bytes = count_ * bytes_each_;
  std::size_t before = registered_bytes_total.load(std::memory_order_relaxed);
  do {
    if (before + bytes > registered_bytes_max) return false;
  } while (!registered_bytes_total.compare_exchange_weak(before, before + bytes, std::memory_order_relaxed));
  registered_bytes_ = bytes;
  return true;
}

void uring_buffers::release_registration() noexcept {
  registered_bytes_total.fetch_sub(registered_bytes_, std::memory_order_relaxed);
  registered_bytes_ = 0;
}

}  // namespace penstock::sinks
