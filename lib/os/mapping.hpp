// SPDX-License-Identifier: MIT
// A file mapped so that its data area follows itself:
//
//   address   0          header_bytes                 header_bytes + data_bytes          header_bytes + 2 * data_bytes
//             | header   | data                       | the same data again              |
//   file      | header   | data                       |
//
// What runs over the end of the data area goes on at its start without a seam. The first half is aligned like the file to 2 MiB, so that
// the kernel may use huge pages for it; the second is only ever touched by what runs over the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace penstock::os {

/// The size of a page of this machine, at least page_bytes of lib/os/pages.hpp.
std::size_t system_page_bytes() noexcept;

struct mirror_options {
  std::size_t header_bytes = 0;  ///< whole pages
  std::size_t data_bytes = 0;    ///< whole pages
  bool writable = false;
};

/// A mapped file, unmapped when this goes. Never inherited by a forked child (MADV_DONTFORK).
class mirrored_mapping {
 public:
  mirrored_mapping() = default;
  /// Maps the first header_bytes + data_bytes bytes of `fd`, which may be closed afterwards.
  ///
  /// Errors: std::system_error.
  mirrored_mapping(int fd, const mirror_options& options);
  mirrored_mapping(mirrored_mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), header_bytes_(other.header_bytes_), data_bytes_(other.data_bytes_) {}
  mirrored_mapping& operator=(mirrored_mapping&& other) noexcept;
  ~mirrored_mapping() { reset(); }

  std::byte* header() const noexcept { return base_; }
  std::byte* data() const noexcept { return base_ + header_bytes_; }
  std::size_t data_bytes() const noexcept { return data_bytes_; }
  /// Header, data, and data once more.
  std::span<std::byte> whole() const noexcept { return {base_, header_bytes_ + 2 * data_bytes_}; }

  void reset() noexcept;
  /// In a forked child, where the mapping does not exist: forgets it without unmapping what may live at its address now.
  void forget() noexcept { base_ = nullptr; }

 private:
  std::byte* base_ = nullptr;
  std::size_t header_bytes_ = 0;
  std::size_t data_bytes_ = 0;
};

/// Takes all page faults for stores to `range` now: MADV_POPULATE_WRITE, or one store to each page where the kernel does not have it
/// (before 5.14). The bytes stay as they are; nobody else may write them meanwhile.
///
/// Errors: the errno; EFAULT where a page has no file behind it.
/// Source: man 2 madvise; a file mapping needs the real file system's blocks, so allocate them before.
int populate_for_writing(std::span<std::byte> range) noexcept;

/// The fallback of populate_for_writing, for tests: rewrites one byte of each page. Also makes pages dirty again that a failed write-back
/// left clean.
void touch_pages_for_writing(std::span<std::byte> range) noexcept;

/// Anonymous memory of whole pages, touched, so that its first use pays for nothing. `huge`: in huge pages where the kernel gives them,
/// which takes up to 2 MiB more than asked for; nullptr if there is no memory.
///
/// Owner:  the caller, until unmap_memory() with the same numbers.
/// Source: measured, O_DIRECT writes of 1 MiB from huge pages: 1.27 times as fast at 0.45 of the processor time, since the kernel pins one
///         page instead of 256; writes through the page cache: no difference.
std::byte* map_memory(std::size_t bytes, bool huge) noexcept;
void unmap_memory(std::byte* begin, std::size_t bytes, bool huge) noexcept;

}  // namespace penstock::os
