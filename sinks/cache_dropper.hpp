// SPDX-License-Identifier: MIT
// page_cache = "drop": what is written leaves the page cache soon. By RWF_DONTCACHE where the kernel and the file system have it; else by
// starting write-back every 8 MiB and dropping the window before, once it is on the disk. Either way a log that is faster than the disk
// waits for it, so that the page cache never holds more than two windows of it.
#pragma once

#include <cstdint>

#include <penstock/base/error.hpp>

#include "lib/os/file.hpp"

namespace penstock::sinks {

class cache_dropper {
 public:
  /// The flags for the next write.
  int flags() const noexcept { return by_flag_ ? os::write_dont_cache : 0; }

  /// True if a write failed because its flags are not known here: from now on there are none, and the rest is to be written again.
  bool refused(outcome result) noexcept;

  /// Says that `fd` is written up to `end_bytes`. Waits for the window before when a new one is full, 4 to 6 ms each 8 MiB, which holds the
  /// log to the speed of the disk: without that wait, single calls were seen to stall for 100 ms and more, and 140 MiB to gather in the
  /// page cache.
  ///
  /// Errors: kept for take_error().
  void written_up_to(int fd, std::uint64_t end_bytes) noexcept;

  /// What a wait heard of failed write-back, once: the kernel tells each error once, so the next fdatasync(2) will not know it.
  outcome take_error() noexcept;

  /// The file is another one, or ends elsewhere now.
  void start_at(std::uint64_t end_bytes) noexcept { begin_ = before_ = end_bytes; }

 private:
  static constexpr std::uint64_t window_bytes = std::uint64_t{8} << 20;
  // Larger, since write-back is under way already: the wait is for a disk that does not keep up, and is nothing where it does.
  static constexpr std::uint64_t flag_window_bytes = std::uint64_t{16} << 20;

  bool by_flag_ = true;
  int error_ = 0;
  std::uint64_t before_ = 0;  ///< begin of the window that is being written back; it ends at begin_
  std::uint64_t begin_ = 0;   ///< begin of the window that fills
};

}  // namespace penstock::sinks
