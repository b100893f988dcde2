// SPDX-License-Identifier: MIT
#include "sinks/cache_dropper.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

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
  if (end_bytes < begin_) start_at(end_bytes);
  if (end_bytes - begin_ < (by_flag_ ? flag_window_bytes : window_bytes)) return;
  // Whole pages only: POSIX_FADV_DONTNEED keeps a page that is covered in part.
  const std::uint64_t end = end_bytes - os::page_phase(end_bytes);
  if (!by_flag_) os::calls().sync_range(fd, static_cast<off_t>(begin_), static_cast<off_t>(end - begin_), SYNC_FILE_RANGE_WRITE);
  if (before_ < begin_) {
    const auto offset = static_cast<off_t>(before_ - os::page_phase(before_));
    const auto bytes = static_cast<off_t>(begin_) - offset;
    constexpr unsigned write_and_wait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    if (os::calls().sync_range(fd, offset, bytes, write_and_wait) != 0 && (errno == EIO || errno == ENOSPC)) error_ = errno;
    if (!by_flag_) ::posix_fadvise(fd, offset, bytes, POSIX_FADV_DONTNEED);
  }
  before_ = begin_;
  begin_ = end;
}

outcome cache_dropper::take_error() noexcept {
  const int os_error = std::exchange(error_, 0);
  return os_error == 0 ? outcome{} : outcome{errc::io, os_error};
}

}  // namespace penstock::sinks
