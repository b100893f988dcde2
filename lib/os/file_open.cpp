// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/file.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "lib/os/file.hpp"

namespace penstock::os {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, int os_error, const std::string& why) {
  std::string text = "cannot open '" + path.string() + "'";
  if (!why.empty()) text += " (" + why + ")";
  throw std::system_error(os_error, std::generic_category(), text);
}

/// The first folder of the path that is not there, outermost first.
fs::path missing_folder(const fs::path& path) {
  fs::path missing;
  for (fs::path folder = path.parent_path(); !folder.empty() && folder != folder.root_path(); folder = folder.parent_path()) {
    std::error_code ignored;
    if (fs::exists(folder, ignored)) break;
    missing = folder;
  }
  return missing;
}

/// Why open(2) refused, as far as it can be told, and what to do about it.
std::string open_remedy(const fs::path& path, const open_options& options, int os_error) {
  std::error_code ignored;
  switch (os_error) {
    case ENOENT:
      if (const fs::path folder = missing_folder(path); !folder.empty())
        return "folder '" + folder.string() + "' does not exist: create it or set create_folders = true";
      return {};
    case ELOOP:
      if (!options.follow_symlinks && fs::is_symlink(fs::symlink_status(path, ignored)))
        return "it is a symbolic link: name the file itself or set follow_symlinks = true";
      return {};
    case EISDIR:
      return "it is a folder: name a file in it";
    case ENOTDIR:
      return "a part of the path is not a folder";
    case EACCES:
      return "user " + std::to_string(::geteuid()) + " may not write there: change the rights of the file or of its folders";
    case EPERM:
      return (options.flags & O_APPEND) != 0
                 ? "the file or its folder may be immutable (lsattr shows it): chattr -i"
                 : "the file may be immutable or append-only (lsattr shows it): chattr -a -i, or use type = \"write\" to append";
    case ENXIO:
      if (fs::is_fifo(fs::status(path, ignored))) return "nobody reads this FIFO: start the reader first";
      return "nothing is behind this device or socket";
    case ENOSPC:
      return "no space or no inode left: make room";
    case EMFILE:
      return "this process has too many open files: raise the limit (ulimit -n)";
    case EROFS:
      return "the file system is mounted read-only";
    default:
      return {};
  }
}

/// Folders may be searched by whoever may read the file.
mode_t folder_mode(mode_t file_mode) noexcept { return 0700U | (file_mode & 066U) | ((file_mode & 044U) >> 2U); }

void create_missing_folders(const fs::path& path, const open_options& options) {
  fs::path folder;
  for (const fs::path& part : path.parent_path()) {
    folder /= part;
    if (::mkdir(folder.c_str(), folder_mode(options.mode)) == 0 || errno == EEXIST) continue;
    const int os_error = errno;
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) continue;  // EROFS, EACCES: asked about a folder that is there
    refuse(path, os_error, "cannot create its folder '" + folder.string() + "': create it by hand");
  }
}

void require_regular(const fs::path& path, const struct stat& facts) {
  if (S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)) return;
  refuse(path, EOPNOTSUPP, "it is not a regular file: use type = \"write\" for pipes, terminals and devices");
}

/// The process that holds the flock of this file, or 0. Source: man 5 proc, /proc/locks.
long lock_owner(const struct stat& facts) {
  std::ifstream table("/proc/locks");
  for (std::string line; std::getline(table, line);) {
    std::istringstream words(line);
    std::string number, kind, strength, access, place;
    long pid = 0;
    if (!(words >> number >> kind >> strength >> access >> pid >> place) || kind != "FLOCK") continue;
    unsigned major_number = 0;
    unsigned minor_number = 0;
    unsigned long inode = 0;
    if (std::sscanf(place.c_str(), "%x:%x:%lu", &major_number, &minor_number, &inode) != 3) continue;
    if (inode == facts.st_ino && major_number == major(facts.st_dev) && minor_number == minor(facts.st_dev)) return pid;
  }
  return 0;
}

void take_lock(const fs::path& path, int fd) {
  while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    const int os_error = errno;
    if (os_error == EINTR) continue;
    if (os_error != EWOULDBLOCK) refuse(path, os_error, "this file system has no locks: use type = \"write\", which needs none");
    struct stat facts {};
    const long owner = calls().fstat(fd, &facts) == 0 ? lock_owner(facts) : 0;
    std::string who = "another process";
    if (owner == ::getpid())
      who = "this process (" + std::to_string(owner) + ")";
    else if (owner > 0)
      who = "process " + std::to_string(owner);
    refuse(path, os_error, who + " has it open for itself: give each its own file, or use type = \"write\" to share it");
  }
}

/// Moves a descriptor out of the places of standard input, output and error, where stray prints would land in the log.
descriptor above_standard(descriptor file, const fs::path& path) {
  if (file.get() > STDERR_FILENO) return file;
  descriptor moved(::fcntl(file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!moved.valid()) refuse(path, errno, "no descriptor above 2 is free: raise the limit of open files (ulimit -n)");
  return moved;
}

}  // namespace

descriptor open_log_file(const fs::path& path, const open_options& options) {
  if (path.empty()) refuse(path, ENOENT, "its path is empty: set path");
  if (options.create_folders) create_missing_folders(path, options);

  struct stat facts {};
  // Looked at before the open as well, since opening a device or a FIFO is felt at its other end.
  if (options.regular_only && calls().stat(path.c_str(), &facts) == 0) require_regular(path, facts);

  // O_NONBLOCK: a FIFO without a reader gives ENXIO instead of waiting for one.
  int flags = options.flags | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  if (!options.follow_symlinks) flags |= O_NOFOLLOW;
  int fd = -1;
  do fd = calls().open(path.c_str(), flags, options.mode);
  while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    const int os_error = errno;
    refuse(path, os_error, open_remedy(path, options, os_error));
  }

  descriptor file = above_standard(descriptor(fd), path);
  if (calls().fstat(file.get(), &facts) != 0) refuse(path, errno, "it cannot be looked at");
  if (options.regular_only) require_regular(path, facts);
  // Pipes and terminals keep O_NONBLOCK, so that a reader that stands still stops nobody for longer than one wait in write_all().
  if (S_ISREG(facts.st_mode)) {
    const int now = ::fcntl(file.get(), F_GETFL);
    if (now >= 0) ::fcntl(file.get(), F_SETFL, now & ~O_NONBLOCK);
  }
  if (options.lock) take_lock(path, file.get());
  return file;
}

outcome share_for_appending(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ::fcntl(fd, F_SETFL, (flags & ~O_DIRECT) | O_APPEND) != 0) return {errc::io, errno};
  ::flock(fd, LOCK_UN);
  return {};
}

}  // namespace penstock::os
