// SPDX-License-Identifier: MIT
// The batches of the io_uring sink: equal parts of one mapping that a forked child does not inherit. The one that was given back last is
// lent first, so that a quiet sink keeps working in the same few cache lines.
#pragma once

#include <cstddef>
#include <vector>

#include "lib/os/pages.hpp"

namespace penstock::sinks {

class uring_buffers {
 public:
  /// Errors: std::bad_alloc.
  /// `direct`: O_DIRECT reads them, so they are in huge pages where the kernel gives them.
  uring_buffers(unsigned count, std::size_t bytes_each, bool direct);
  ~uring_buffers();
  uring_buffers(const uring_buffers&) = delete;
  uring_buffers& operator=(const uring_buffers&) = delete;

  unsigned count() const noexcept { return count_; }
  std::size_t bytes_each() const noexcept { return bytes_each_; }
  std::byte* memory() const noexcept { return begin_; }
  std::byte* at(unsigned index) const noexcept { return begin_ + index * bytes_each_; }

  bool any_free() const noexcept { return !free_.empty(); }
  unsigned take() noexcept;
  void put_back(unsigned index) noexcept { free_.push_back(index); }

  /// Leaves the mapping to a kernel that may still read it, and takes a new one in which all are free. False: there is no memory.
  bool replace() noexcept;
  /// Leaves the mapping alone for good: to such a kernel, or in a forked child, where something else may be at its place.
  void forget() noexcept { begin_ = nullptr; }
  /// True in a forked child. Costs no system call where the kernel marks the child for us.
  bool in_child() const noexcept;

  /// True if this many bytes may be registered: the sum over all sinks of the process stays under half of the usual RLIMIT_MEMLOCK, since
  /// rings that were closed give theirs back late.
  bool reserve_registration() noexcept;
  void release_registration() noexcept;

 private:
  std::byte* map() const noexcept;
  /// Whole huge pages, so that no advice for the mapping divides one.
  std::size_t mapped_bytes() const noexcept {
    const std::size_t bytes = count_ * bytes_each_;
    return huge_ ? os::round_up_to_huge_pages(bytes) : bytes;
  }

  unsigned count_;
  std::size_t bytes_each_;
  bool huge_;
  std::byte* begin_;
  std::vector<unsigned> free_;
  std::size_t registered_bytes_ = 0;
  volatile unsigned char* birth_mark_ = nullptr;  ///< 1 in the process that made it, 0 in its children
  int process_;
};

}  // namespace penstock::sinks
