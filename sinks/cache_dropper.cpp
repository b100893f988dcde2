// SPDX-License-Identifier: MIT
#include "sinks/cache_dropper.hpp"

#include <fcntl.h>

#include <cerrno>

#include "lib/os/pages.hpp"

namespace penstock::sinks {

bool cache_dropper::refused(outcome result) noexcept {
  // EOPNOTSUPP: this file system; EINVAL, ENOSYS: this kernel; ESPIPE: a pipe (man 2 pwritev2).
  const bool unknown = result.os_error == EOPNOTSUPP || result.os_error == EINVAL || result.os_error == ENOSYS || result.os_error == ESPIPE;
  if (!by_flag_ || !unknown) return false;
  by_flag_ = false;
  return true;
}

void cache_dropper::written_up_to(int fd, std::uint64_t end_bytes) noexcept {
  if (by_flag_) {
    start_at(end_bytes);
    return;
  }
  if (end_bytes < begin_) start_at(end_bytes);
  if (end_bytes - begin_ < window_bytes) return;
  // Whole pages only: POSIX_FADV_DONTNEED keeps a page that is covered in part.
  const std::uint64_t end = end_bytes - os::page_phase(end_bytes);
  ::sync_file_range(fd, static_cast<off_t>(begin_), static_cast<off_t>(end - begin_), SYNC_FILE_RANGE_WRITE);
  if (before_ < begin_) {
    const auto offset = static_cast<off_t>(before_ - os::page_phase(before_));
    const auto bytes = static_cast<off_t>(begin_) - offset;
    ::sync_file_range(fd, offset, bytes, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
    ::posix_fadvise(fd, offset, bytes, POSIX_FADV_DONTNEED);
  }
  before_ = begin_;
  begin_ = end;
}

}  // namespace penstock::sinks
