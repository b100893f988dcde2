// SPDX-License-Identifier: MIT
// How the live file becomes a closed one, what is undone if that fails, and what is left to sync.
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

#include "sinks/rotating_sink.hpp"

namespace penstock::sinks {
namespace {

using namespace std::chrono_literals;

constexpr auto retry_wait = 1s;
// Names that are taken, by another process or by hand: each costs one call, and a folder full of them is somebody's intention.
constexpr int names_tried_max = 1000;
// More closed files than this are synced all at once, by syncing their file system.
constexpr std::size_t unsynced_max = 64;

outcome io_error(int os_error) noexcept { return {os_error == ENOSPC || os_error == EDQUOT ? errc::no_space : errc::io, os_error}; }

}  // namespace

outcome rotating_sink::rotate(moment now) noexcept {
  os::descriptor next;
  try {
    if (const outcome result = reserve(now == moment{} ? std::chrono::system_clock::now() : now, next); !result.ok()) return result;
    if (const outcome result = exchange(next); !result.ok()) {
      next.reset();
      remove_unused(closed_path(last_name_));
      return result;
    }
  } catch (const std::bad_alloc&) {
    return {errc::io, ENOMEM};
  } catch (const std::system_error& refused) {
    return {errc::io, refused.code().value()};
  }
  switching_ = true;
  return next.valid() && hand_over(std::move(next)) ? outcome{} : finish_switch();
}

// Makes the next file, empty, under the name that the old one will have: nobody has that name then, and nobody can take it.
outcome rotating_sink::reserve(moment now, os::descriptor& next) noexcept {
  const int flags =
      O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | (taker_ != nullptr ? taker_->next_file_options().flags : O_WRONLY);
  rotated_name name = last_name_;
  for (int tries = 0; tries < names_tried_max; ++tries) {
    name = name.next(now);
    os::descriptor made(os::calls().open(closed_path(name).c_str(), flags, mode_));
    if (made.valid()) {
      last_name_ = name;
      next = ready(std::move(made));
      return {};
    }
    if (errno != EEXIST && errno != EINTR) return io_error(errno);
  }
  return {errc::io, EEXIST};
}

// The file as the sink inside wants it, locked before anyone can find it at the path. Invalid: that sink has to open it by its path.
os::descriptor rotating_sink::ready(os::descriptor made) const noexcept {
  if (taker_ == nullptr || made.get() <= STDERR_FILENO) return {};
  const int lock = shared_ ? LOCK_SH : LOCK_EX;
  return ::flock(made.get(), lock | LOCK_NB) == 0 ? std::move(made) : os::descriptor();
}

// The sink inside goes on in the file that was made. False: it has to be asked to notice.
bool rotating_sink::hand_over(os::descriptor next) noexcept {
  struct stat facts {};
  if (os::calls().fstat(next.get(), &facts) != 0) return false;
  // One lock for both descriptors, since they are one open file.
  os::descriptor guard(shared_ ? ::fcntl(next.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : -1);
  if (guard.valid() != shared_ || !taker_->take_next_file(std::move(next)).ok()) return false;
  guard_ = std::move(guard);
  begin(facts);
  switched();
  return true;
}

outcome rotating_sink::exchange(os::descriptor& next) noexcept {
  const std::filesystem::path closed = closed_path(last_name_);
  if (os::calls().exchange(path_.c_str(), closed.c_str()) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return io_error(errno);
  // A file system that knows no exchange (NFS): over the empty file, which is gone then, and the sink inside makes the new one.
  next.reset();
  return ::rename(path_.c_str(), closed.c_str()) == 0 ? outcome{} : io_error(errno);
}

// The sink inside could not open the new file: the old one gets its path back.
void rotating_sink::take_back() noexcept {
  switching_ = false;
  const std::filesystem::path closed = closed_path(last_name_);
  if (os::calls().exchange(closed.c_str(), path_.c_str()) == 0) {
    remove_unused(closed);
    return;
  }
  // Never over a file that is there: it may be another process's by now.
  if (::link(closed.c_str(), path_.c_str()) == 0) ::unlink(closed.c_str());
}

// Asks the sink inside to notice. Pending: it still has half a line for the old file.
outcome rotating_sink::finish_switch() noexcept {
  const outcome result = inside_->reopen();
  if (result.code == errc::pending) return result;
  if (!result.ok()) {
    take_back();
    failed(result);
    return result;
  }
  follow();
  switched();
  return {};
}

void rotating_sink::switched() noexcept {
  switching_ = false;
  retry_at_ = {};
  told_error_ = 0;
  try {
    if (unsynced_.size() < unsynced_max)
      unsynced_.push_back(last_name_);
    else
      too_many_unsynced_ = true;
  } catch (const std::bad_alloc&) {
    too_many_unsynced_ = true;
  }
  rotation_helper::look(*closed_);
}

void rotating_sink::failed(outcome why) noexcept {
  retry_at_ = steady::now() + retry_wait;
  trouble_ = why;
}

// Locks the file that the path leads to, together with all others who write to it, and sees to it that the sink inside has the same one:
// another process may rotate it between any two steps.
outcome rotating_sink::guard() noexcept {
  guard_.reset();
  for (int attempt = 0; attempt < 10; ++attempt) {
    os::descriptor fresh(os::calls().open(path_.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
    if (!fresh.valid()) return io_error(errno);
    // Held exclusively by whoever compresses it, if it is a closed file by now, or looks for a moment whether it is in use.
    if (::flock(fresh.get(), LOCK_SH | LOCK_NB) != 0) {
      ::sched_yield();
      continue;
    }
    const outcome result = inside_->reopen();
    struct stat locked {};
    struct stat now {};
    if (os::calls().fstat(fresh.get(), &locked) != 0 || os::calls().stat(path_.c_str(), &now) != 0) continue;
    if (locked.st_dev != now.st_dev || locked.st_ino != now.st_ino) continue;
    guard_ = std::move(fresh);
    return result;
  }
  return {errc::io, EBUSY};
}

outcome rotating_sink::sync() noexcept {
  const outcome result = inside_->sync();
  if (!result.ok() || (unsynced_.empty() && !too_many_unsynced_)) return result;
  try {
    return sync_closed();
  } catch (const std::bad_alloc&) {
    return {errc::io, ENOMEM};
  }
}

outcome rotating_sink::sync_closed() noexcept {
  const os::descriptor folder(os::calls().open(closed_->folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0));
  if (!folder.valid()) return {errc::io, errno};
  if (too_many_unsynced_) {
    if (::syncfs(folder.get()) != 0) return {errc::io, errno};
  } else {
    for (const rotated_name& name : unsynced_) {
      const os::descriptor file(os::calls().open(closed_path(name).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
      // Removed by now: because of its age or its size, or since it is compressed, which syncs.
      if (!file.valid() && errno == ENOENT) continue;
      if (!file.valid()) return {errc::io, errno};
      if (const outcome result = os::sync_data(file.get()); !result.ok()) return result;
    }
    // The names are new as well.
    if (::fsync(folder.get()) != 0) return {errc::io, errno};
  }
  unsynced_.clear();
  too_many_unsynced_ = false;
  return {};
}

}  // namespace penstock::sinks
