// SPDX-License-Identifier: MIT
// System calls that fail on demand: a script of what the next writes shall do, and what was called. Everything else goes to the kernel.
#pragma once

#include <cerrno>
#include <cstddef>
#include <deque>
#include <vector>

#include "lib/os/file.hpp"

namespace penstock::testing {

/// What one call does: fails with an errno, or writes no more than so many bytes.
struct fault {
  int os_error = 0;
  std::size_t at_most_bytes = static_cast<std::size_t>(-1);
};

/// Replaces the table while it lives. One at a time.
class faulty_calls {
 public:
  faulty_calls() : real_(os::calls()), table_(real_), scope_(table_) {
    current_ = this;
    table_.write = [](int fd, const void* data, std::size_t bytes) noexcept {
      return current_->put(bytes, 0, [&](std::size_t n) { return current_->real_.write(fd, data, n); });
    };
    table_.pwrite = [](int fd, const void* data, std::size_t bytes, off_t offset) noexcept {
      return current_->put(bytes, 0, [&](std::size_t n) { return current_->real_.pwrite(fd, data, n, offset); });
    };
    table_.pwrite_flags = [](int fd, const void* data, std::size_t bytes, off_t offset, int flags) noexcept {
      return current_->put(bytes, flags, [&](std::size_t n) { return current_->real_.pwrite_flags(fd, data, n, offset, flags); });
    };
    table_.fdatasync = [](int fd) noexcept {
      ++current_->sync_count;
      return current_->next(current_->syncs) ? -1 : current_->real_.fdatasync(fd);
    };
    table_.sync_range = [](int fd, off_t offset, off_t bytes, unsigned flags) noexcept {
      const bool waits = (flags & SYNC_FILE_RANGE_WAIT_AFTER) != 0;
      if (waits) ++current_->range_wait_count;
      return waits && current_->next(current_->range_waits) ? -1 : current_->real_.sync_range(fd, offset, bytes, flags);
    };
    table_.fallocate = [](int fd, int mode, off_t offset, off_t bytes) noexcept {
      ++current_->allocate_count;
      if (current_->allocate_error == 0) return current_->real_.fallocate(fd, mode, offset, bytes);
      // As ext4 does it on a full disk: what could be found is kept, and then the call fails.
      if (current_->allocate_error == ENOSPC) current_->real_.fallocate(fd, mode, offset, 1 << 20);
      errno = current_->allocate_error;
      return -1;
    };
    table_.ftruncate = [](int fd, off_t bytes) noexcept {
      ++current_->truncate_count;
      return current_->real_.ftruncate(fd, bytes);
    };
  }
  ~faulty_calls() { current_ = nullptr; }
  faulty_calls(const faulty_calls&) = delete;
  faulty_calls& operator=(const faulty_calls&) = delete;

  std::deque<fault> writes;       ///< for the next write, pwrite or pwrite_flags each
  fault every_write{};            ///< once the script is through
  std::deque<fault> syncs;        ///< for the next fdatasync each
  std::deque<fault> range_waits;  ///< for the next sync_file_range that waits each
  int allocate_error = 0;

  std::vector<std::size_t> write_bytes{};  ///< what each write was asked for
  std::vector<int> write_flags{};
  std::size_t sync_count = 0;
  std::size_t range_wait_count = 0;
  std::size_t allocate_count = 0;
  std::size_t truncate_count = 0;

 private:
  template <class Real>
  ssize_t put(std::size_t bytes, int flags, Real real) {
    write_bytes.push_back(bytes);
    write_flags.push_back(flags);
    fault now = every_write;
    if (!writes.empty()) {
      now = writes.front();
      writes.pop_front();
    }
    if (now.os_error != 0) {
      errno = now.os_error;
      return -1;
    }
    return real(bytes < now.at_most_bytes ? bytes : now.at_most_bytes);
  }

  bool next(std::deque<fault>& script) {
    if (script.empty()) return false;
    errno = script.front().os_error;
    script.pop_front();
    return errno != 0;
  }

  static inline faulty_calls* current_ = nullptr;
  os::system_calls real_;
  os::system_calls table_;
  os::scoped_system_calls scope_;
};

}  // namespace penstock::testing
