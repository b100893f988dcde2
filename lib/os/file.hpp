// SPDX-License-Identifier: MIT
// Files: the one place that knows EINTR and short writes. Every call that tests must be able to fail goes through a table of system calls.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include <penstock/base/error.hpp>

namespace penstock::os {

/// The system calls behind everything here. Tests replace single entries by scoped_system_calls.
struct system_calls {
  int (*open)(const char* path, int flags, mode_t mode) noexcept;
  int (*close)(int fd) noexcept;
  ssize_t (*write)(int fd, const void* data, std::size_t bytes) noexcept;
  ssize_t (*pwrite)(int fd, const void* data, std::size_t bytes, off_t offset) noexcept;
  /// pwritev2(2) of one buffer, for its flags (RWF_DONTCACHE).
  ssize_t (*pwrite_flags)(int fd, const void* data, std::size_t bytes, off_t offset, int flags) noexcept;
  int (*fdatasync)(int fd) noexcept;
  int (*sync_range)(int fd, off_t offset, off_t bytes, unsigned flags) noexcept;  ///< sync_file_range(2)
  int (*fallocate)(int fd, int mode, off_t offset, off_t bytes) noexcept;
  int (*ftruncate)(int fd, off_t bytes) noexcept;
  int (*fstat)(int fd, struct stat* out) noexcept;
  int (*stat)(const char* path, struct stat* out) noexcept;
  int (*exchange)(const char* one, const char* other) noexcept;  ///< renameat2(2) with RENAME_EXCHANGE
};

/// The table in use.
///
/// Thread: replaced only while no other thread does I/O.
const system_calls& calls() noexcept;

/// Replaces the table for a scope (tests).
class scoped_system_calls {
 public:
  explicit scoped_system_calls(const system_calls& table) noexcept;
  ~scoped_system_calls();
  scoped_system_calls(const scoped_system_calls&) = delete;
  scoped_system_calls& operator=(const scoped_system_calls&) = delete;

 private:
  const system_calls* former_;
};

/// An open file descriptor, closed when this goes. Always close-on-exec, never 0, 1 or 2.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int fd) noexcept : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~descriptor() { reset(); }

  int get() const noexcept { return fd_; }
  bool valid() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset() noexcept;

 private:
  int fd_ = -1;
};

/// How far a write got: `done_bytes` are written, then `result` happened. A short count is no error: it goes on until all is done or an
/// errno.
struct write_result {
  std::size_t done_bytes = 0;
  outcome result{};

  friend bool operator==(const write_result&, const write_result&) = default;
};

/// RWF_DONTCACHE of pwritev2(2): written pages leave the page cache by themselves. Source: Linux 6.14; the headers of Debian 12 lack it.
inline constexpr int write_dont_cache = 0x80;

/// Writes all of `data` at the file position (append, pipes, terminals). Retries EINTR and short counts without limit; waits by poll(2) on
/// EAGAIN for up to 1 s without progress, then gives errc::no_space with EAGAIN. `flags` other than 0 go through pwrite_flags.
write_result write_all(int fd, std::span<const std::byte> data, int flags = 0) noexcept;

/// Writes all of `data` at `offset`.
write_result write_all_at(int fd, std::span<const std::byte> data, std::uint64_t offset, int flags = 0) noexcept;

/// The errc that an errno of write, fsync and their like means.
outcome outcome_of(int os_error) noexcept;

/// Where a regular file ends now, or -1. Moves the file position, which a descriptor that is written at offsets has no use for.
///
/// Source: not fstat(2), which also asks for the times: since Linux 6.13 the next write then gives the file a new time of its own and marks
///         the inode dirty. Measured: 2 us for each batch, 5 % of a pwrite of 256 KiB (ext4, Linux 6.18).
std::int64_t file_end(int fd) noexcept;

/// Brings what was written to `fd` to the medium: fdatasync(2).
///
/// Errors: errc::unsupported where there is no medium (pipes, terminals); errc::io otherwise, whatever the errno: a failure that the kernel
///         found while it wrote back is told once and then forgotten, so that a second call that succeeds proves nothing about the first.
/// Source: man 2 fsync, ERRORS; Linux 4.13 on.
outcome sync_data(int fd) noexcept;

/// How a log file is opened.
struct open_options {
  int flags = O_WRONLY | O_APPEND;  ///< O_CREAT, O_CLOEXEC, O_NOCTTY are added
  mode_t mode = 0640;
  bool follow_symlinks = false;
  bool create_folders = false;
  bool regular_only = false;  ///< refuse FIFOs, devices, sockets
  bool lock = false;          ///< advisory lock (flock LOCK_EX|LOCK_NB), for sinks that own their file
};

/// Opens a log file. A FIFO does not block the open.
///
/// Errors: std::system_error whose text names the path, what was refused and the remedy; for `lock`, the owner's pid where it can be told.
descriptor open_log_file(const std::filesystem::path& path, const open_options& options);

/// Makes an open log file one that others may have as well, appending from here on, wherever it ends by then: for the lines after stop().
/// O_DIRECT and the lock go.
outcome share_for_appending(int fd) noexcept;

}  // namespace penstock::os
