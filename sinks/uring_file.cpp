// SPDX-License-Identifier: MIT
#include "sinks/uring_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <utility>

#include "lib/os/pages.hpp"

namespace penstock::sinks {
namespace {

// Allocating ahead stops while at least this many times the step are free: on ext4 a request that cannot be met keeps all that is left.
constexpr std::uint64_t free_steps_min = 4;

}  // namespace

os::open_options uring_file::options_of(const sink_config& settings) noexcept {
  return {.flags = O_WRONLY,
          .mode = static_cast<mode_t>(settings.mode),
          .follow_symlinks = settings.follow_symlinks,
          .create_folders = settings.create_folders,
          .regular_only = true,
          .lock = true};
}

uring_file::uring_file(const sink_config& settings)
    : uring_file(os::open_log_file(settings.path, options_of(settings)), settings.page_cache) {}

uring_file::uring_file(os::descriptor open, page_cache_policy policy) noexcept : plain_(std::move(open)) {
  struct stat facts {};
  if (os::calls().fstat(fd(), &facts) == 0) {
    device_ = facts.st_dev;
    inode_ = facts.st_ino;
  }
  // Where the file system knows no O_DIRECT, or there is no /proc, all goes through the page cache.
  if (policy == page_cache_policy::direct) direct_ = reopened(O_WRONLY | O_DIRECT);
}

os::descriptor uring_file::reopened(int flags) const noexcept {
  // By its descriptor, so that it is the same inode whatever the path leads to by now.
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "/proc/self/fd/%d", fd());
  os::descriptor again(os::calls().open(name.data(), flags | O_CLOEXEC, 0));
  if (again.valid() && again.get() <= STDERR_FILENO) again = os::descriptor(::fcntl(again.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  return again;
}

std::uint64_t uring_file::size() const noexcept { return static_cast<std::uint64_t>(std::max<std::int64_t>(os::file_end(fd()), 0)); }

bool uring_file::ends_inside_line() const noexcept {
  const std::uint64_t bytes = size();
  if (bytes == 0) return false;
  const os::descriptor reader = reopened(O_RDONLY);
  char last = '\n';
  return reader.valid() && ::pread(reader.get(), &last, 1, static_cast<off_t>(bytes - 1)) == 1 && last != '\n';
}

bool uring_file::has_blocks_behind_end() const noexcept {
  constexpr blkcnt_t block_bytes = 512;  // of st_blocks, whatever the file system (man 3type stat)
  struct stat facts {};
  return os::calls().fstat(fd(), &facts) == 0 && facts.st_blocks * block_bytes > facts.st_size + static_cast<off_t>(os::page_bytes);
}

bool uring_file::moved(const std::filesystem::path& path) const noexcept {
  struct stat facts {};
  if (os::calls().stat(path.c_str(), &facts) != 0) return errno == ENOENT;
  return facts.st_dev != device_ || facts.st_ino != inode_;
}

bool uring_file::may_allocate(std::uint64_t bytes) const noexcept {
  struct statfs facts {};
  if (::fstatfs(fd(), &facts) != 0) return false;
  if (facts.f_type == TMPFS_MAGIC) return false;  // it would take memory, and zero it
  return static_cast<std::uint64_t>(facts.f_bavail) * static_cast<std::uint64_t>(facts.f_bsize) >= free_steps_min * bytes;
}

outcome uring_file::cut_off(std::uint64_t bytes) noexcept {
  // Never longer: if somebody truncated it, that would fill it up with NULs.
  const std::uint64_t now = size();
  while (os::calls().ftruncate(fd(), static_cast<off_t>(std::min(bytes, now))) != 0)
    if (errno != EINTR) return os::outcome_of(errno);
  return {};
}

void uring_file::close() noexcept {
  if (plain_.valid()) ::flock(plain_.get(), LOCK_UN);
  disown();
}

void uring_file::disown() noexcept {
  direct_.reset();
  plain_.reset();
}

os::descriptor uring_file::take_for_appending() noexcept {
  direct_.reset();
  if (!os::share_for_appending(fd()).ok()) return {};
  return std::move(plain_);
}

}  // namespace penstock::sinks
