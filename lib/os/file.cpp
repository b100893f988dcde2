// SPDX-License-Identifier: MIT
#include "lib/os/file.hpp"

#include <poll.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>

namespace penstock::os {
namespace {

// Lambdas without a capture: the libc functions themselves are not noexcept, and glibc declares some with attributes that a function
// pointer cannot carry.
constexpr system_calls real_calls{
    .open = [](const char* path, int flags, mode_t mode) noexcept { return ::open(path, flags, mode); },
    .close = [](int fd) noexcept { return ::close(fd); },
    .write = [](int fd, const void* data, std::size_t bytes) noexcept { return ::write(fd, data, bytes); },
    .pwrite = [](int fd, const void* data, std::size_t bytes, off_t offset) noexcept { return ::pwrite(fd, data, bytes, offset); },
    .pwrite_flags =
        [](int fd, const void* data, std::size_t bytes, off_t offset, int flags) noexcept {
          const iovec piece{const_cast<void*>(data), bytes};
          return ::pwritev2(fd, &piece, 1, offset, flags);
        },
    .fdatasync = [](int fd) noexcept { return ::fdatasync(fd); },
    .sync_range = [](int fd, off_t offset, off_t bytes, unsigned flags) noexcept { return ::sync_file_range(fd, offset, bytes, flags); },
    .fallocate = [](int fd, int mode, off_t offset, off_t bytes) noexcept { return ::fallocate(fd, mode, offset, bytes); },
    .ftruncate = [](int fd, off_t bytes) noexcept { return ::ftruncate(fd, bytes); },
    .fstat = [](int fd, struct stat* out) noexcept { return ::fstat(fd, out); },
    .stat = [](const char* path, struct stat* out) noexcept { return ::stat(path, out); },
    .exchange = [](const char* one, const char* other) noexcept { return ::renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE); },
};

constinit const system_calls* current_calls = &real_calls;

// How long a full pipe or terminal is waited for before the caller gets the word back: long enough not to spin, short enough for stop() to
// keep its deadline.
constexpr std::chrono::milliseconds full_pipe_wait{1000};

/// True once `fd` takes bytes again, or has an error that the next write will name; false when full_pipe_wait is over.
bool wait_until_writable(int fd) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + full_pipe_wait;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() < 0) return false;
    pollfd waiting{fd, POLLOUT, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left.count()));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;
  }
}

/// The loop that both kinds of write share; `put` makes one system call for the bytes from its argument on.
template <class Put>
write_result write_loop(int fd, std::span<const std::byte> data, bool may_wait, Put put) noexcept {
  write_result result;
  while (result.done_bytes < data.size()) {
    const ssize_t count = put(data.subspan(result.done_bytes), result.done_bytes);
    if (count > 0) {
      result.done_bytes += static_cast<std::size_t>(count);
      continue;
    }
    // A count of 0 for bytes that were asked for is no progress and no errno: it is held like a full disk, never looped on.
    const int os_error = count == 0 ? ENOSPC : errno;
    if (os_error == EINTR) continue;
    if ((os_error == EAGAIN || os_error == EWOULDBLOCK) && may_wait && wait_until_writable(fd)) continue;
    result.result = outcome_of(os_error);
    return result;
  }
  return result;
}

}  // namespace

const system_calls& calls() noexcept { return *current_calls; }

scoped_system_calls::scoped_system_calls(const system_calls& table) noexcept : former_(std::exchange(current_calls, &table)) {}

scoped_system_calls::~scoped_system_calls() { current_calls = former_; }

void descriptor::reset() noexcept {
  // Never retried: Linux has let go of the number even when close says EINTR, and another thread may own it by now (man 2 close, NOTES).
  if (fd_ >= 0) calls().close(std::exchange(fd_, -1));
}

write_result write_all(int fd, std::span<const std::byte> data, int flags) noexcept {
  return write_loop(fd, data, true, [fd, flags](std::span<const std::byte> rest, std::size_t) noexcept {
    // Offset -1 stands for the file position, and moves it (man 2 pwritev2).
    return flags == 0 ? calls().write(fd, rest.data(), rest.size()) : calls().pwrite_flags(fd, rest.data(), rest.size(), -1, flags);
  });
}

write_result write_all_at(int fd, std::span<const std::byte> data, std::uint64_t offset, int flags) noexcept {
  return write_loop(fd, data, false, [fd, offset, flags](std::span<const std::byte> rest, std::size_t done_bytes) noexcept {
    const auto at = static_cast<off_t>(offset + done_bytes);
    return flags == 0 ? calls().pwrite(fd, rest.data(), rest.size(), at) : calls().pwrite_flags(fd, rest.data(), rest.size(), at, flags);
  });
}

std::int64_t file_end(int fd) noexcept { return ::lseek(fd, 0, SEEK_END); }

outcome outcome_of(int os_error) noexcept {
  switch (os_error) {
    case 0:
      return {};
    case ENOSPC:
    case EDQUOT:
    case EFBIG:    // the limit of the process (RLIMIT_FSIZE) or of the file system: like a full disk, it may be lifted
    case ENOMEM:   // the page cache got no page
    case ENOBUFS:  // a socket's queue
    case EAGAIN:
      return {errc::no_space, os_error};
    case EPIPE:
    case ECONNRESET:
      return {errc::closed, os_error};
    default:
      return {errc::io, os_error};
  }
}

outcome sync_data(int fd) noexcept {
  for (;;) {
    if (calls().fdatasync(fd) == 0) return {};
    const int os_error = errno;
    switch (os_error) {
      case EINTR:
        continue;
      case EINVAL:
      case EROFS:
      case EOPNOTSUPP:
        return {errc::unsupported, os_error};
      default:
        return {errc::io, os_error};
    }
  }
}

}  // namespace penstock::os
