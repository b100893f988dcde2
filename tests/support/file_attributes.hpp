// SPDX-License-Identifier: MIT
// chattr(1): flags that root itself is bound by.
#pragma once

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>

namespace penstock::testing {

/// Sets or clears FS_IMMUTABLE_FL, FS_APPEND_FL or the like. False: not here (it takes root, and ext4 or a file system that has them).
inline bool change_attribute(const std::filesystem::path& path, int flag, bool on) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  int flags = 0;
  bool done = ::ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;
  flags = on ? flags | flag : flags & ~flag;
  done = done && ::ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
  ::close(fd);
  return done;
}

}  // namespace penstock::testing
