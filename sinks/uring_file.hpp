// SPDX-License-Identifier: MIT
// The file of the io_uring sink: held exclusively, written at explicit offsets, with space allocated ahead of the text and given back at
// the end. With page_cache "direct" the same file is open twice: O_DIRECT for whole pages, and without it for the pieces of pages at both
// ends of a batch; so no flag of a descriptor is changed while the kernel works on it.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include <penstock/config.hpp>

#include "lib/os/file.hpp"

namespace penstock::sinks {

class uring_file {
 public:
  static constexpr unsigned plain = 0;   ///< index of the descriptor without O_DIRECT, for uring::use_files()
  static constexpr unsigned direct = 1;  ///< index of the one with it

  /// How it is opened.
  static os::open_options options_of(const sink_config& settings) noexcept;

  uring_file() = default;
  /// Opens and locks.
  ///
  /// Errors: std::system_error, as of os::open_log_file().
  explicit uring_file(const sink_config& settings);
  /// Takes one that is open and locked. Throws nothing: without a second descriptor for O_DIRECT, all goes through the page cache.
  uring_file(os::descriptor open, page_cache_policy policy) noexcept;
  uring_file(uring_file&&) noexcept = default;
  uring_file& operator=(uring_file&&) noexcept = default;

  int fd() const noexcept { return plain_.get(); }
  int direct_fd() const noexcept { return direct_.get(); }  ///< -1: none
  bool open() const noexcept { return plain_.valid(); }

  /// What the kernel says is its size now; 0 if it says nothing.
  std::uint64_t size() const noexcept;
  /// True if it ends inside a line: a killed process may have left half a one.
  bool ends_inside_line() const noexcept;
  /// True if it has blocks behind its end: a killed process may have left them.
  bool has_blocks_behind_end() const noexcept;
  /// True if `path` leads to another file, or to none.
  bool moved(const std::filesystem::path& path) const noexcept;
  /// True if allocating ahead is of use and leaves others enough space.
  bool may_allocate(std::uint64_t bytes) const noexcept;

  /// Cuts the file off, if it is longer, and gives back what was allocated behind its end.
  outcome cut_off(std::uint64_t bytes) noexcept;

  /// Unlocks, then closes: a kernel that still works on the file would keep the lock.
  void close() noexcept;
  /// In a forked child: closes only, since the lock is the parent's too.
  void disown() noexcept;
  /// For retire(): the plain descriptor, unlocked and appending from now on. Invalid if the kernel refuses.
  os::descriptor take_for_appending() noexcept;

 private:
  os::descriptor reopened(int flags) const noexcept;

  os::descriptor plain_{};
  os::descriptor direct_{};
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace penstock::sinks
