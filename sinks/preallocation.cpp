// SPDX-License-Identifier: MIT
#include "sinks/preallocation.hpp"

#include <fcntl.h>
#include <linux/falloc.h>

#include <algorithm>
#include <cerrno>

#include "lib/os/file.hpp"

namespace penstock::sinks {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
// One call of 30 to 150 us for each 64 MiB; and small, since ext4 keeps what it found when it finds too little.
constexpr std::uint64_t step_bytes = 64 * mebibyte;
constexpr std::uint64_t low_bytes = 32 * mebibyte;
// A log that writes less than this shall not occupy 64 MiB of a disk.
constexpr std::uint64_t quiet_bytes = 1 * mebibyte;

}  // namespace

void preallocation::start_at(std::uint64_t end_bytes, bool leftover) noexcept {
  refused_ = false;
  next_bytes_ = end_bytes + quiet_bytes + low_bytes;
  allocated_bytes_ = leftover ? end_bytes + 1 : 0;
}

void preallocation::ahead_of(int fd, std::uint64_t end_bytes, std::size_t bytes) noexcept {
  if (refused_ || end_bytes + bytes + low_bytes <= next_bytes_) return;
  const std::uint64_t from = std::max(allocated_bytes_, end_bytes);
  if (os::calls().fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(from), static_cast<off_t>(step_bytes)) == 0) {
    next_bytes_ = allocated_bytes_ = from + step_bytes;
    return;
  }
  switch (errno) {
    case EINTR:
      return;  // asked for again with the next batch
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      // Not atomic: ext4 keeps all the blocks it could find, which others may need, and so may our own next writes.
      allocated_bytes_ = from;
      trim(fd);
      next_bytes_ = end_bytes + bytes + low_bytes + step_bytes;
      return;
    default:
      refused_ = true;  // EOPNOTSUPP, ENOSYS, EPERM, …: not on this file
  }
}

void preallocation::trim(int fd) noexcept {
  if (allocated_bytes_ == 0) return;
  struct stat facts {};
  // To the size that the file has now, never to one that we remember: if somebody truncated it, that would fill it up with NULs.
  if (os::calls().fstat(fd, &facts) != 0) return;
  while (os::calls().ftruncate(fd, facts.st_size) != 0 && errno == EINTR) {
  }
  allocated_bytes_ = 0;
}

}  // namespace penstock::sinks
