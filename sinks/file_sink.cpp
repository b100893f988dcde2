// SPDX-License-Identifier: MIT
#include "sinks/file_sink.hpp"

#include "lib/os/signal_guard.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <new>
#include <span>
#include <system_error>
#include <utility>

namespace penstock::sinks {
namespace {

os::open_options with_settings(os::open_options options, const sink_config& settings) {
  options.mode = static_cast<mode_t>(settings.mode);
  options.follow_symlinks = settings.follow_symlinks;
  options.create_folders = settings.create_folders;
  return options;
}

/// The last byte of a regular file; '\n' if it is empty or cannot be read. A killed process may have left half a line there. Another
/// process may be in the middle of a write that ends with a whole line: its end is waited for, since lseek(SEEK_DATA) takes the inode's
/// lock, which an append holds from its first byte to its last.
std::byte last_byte_of(int fd) noexcept {
  std::byte last{'\n'};
  // Log files are open for writing only; the same inode is opened once more, whatever its path leads to by now.
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "/proc/self/fd/%d", fd);
  const os::descriptor reader(os::calls().open(name.data(), O_RDONLY | O_CLOEXEC, 0));
  off_t seen_bytes = -1;
  for (int look = 0; reader.valid() && look < 100; ++look) {
    struct stat facts {};
    if (os::calls().fstat(fd, &facts) != 0 || facts.st_size == 0) return std::byte{'\n'};
    if (::pread(reader.get(), &last, 1, facts.st_size - 1) != 1) last = std::byte{'\n'};
    if (last == std::byte{'\n'} || facts.st_size == seen_bytes) break;
    seen_bytes = facts.st_size;
    static_cast<void>(::lseek(reader.get(), 0, SEEK_DATA));
  }
  return last;
}

class line_sink final : public batch_sink {
 public:
  explicit line_sink(line_sink_parts parts) noexcept
      : batch_sink(std::move(parts.memory), cut::lines),
        owned_(std::move(parts.owned)),
        fd_(owned_.valid() ? owned_.get() : parts.borrowed_fd),
        kind_(std::move(parts.kind)) {
    if (parts.mid_line) destination_changed(std::byte{0});
  }
  outcome sync() noexcept override {
    if (const outcome flushed = flush(); !flushed.ok()) return flushed;
    return os::sync_data(fd_);
  }
  outcome reopen() noexcept override { return {}; }
  void disown_after_fork() noexcept override { owned_.reset(); }
  sink_description describe() const override { return {kind_, {}}; }

 private:
  os::write_result put(std::span<const std::byte> data) noexcept override {
    const os::write_signal_guard guard;
    return os::write_all(fd_, data);
  }

  os::descriptor owned_;
  int fd_;
  std::string kind_;
};

}  // namespace

file_sink::file_sink(const sink_config& settings, how way)
    : batch_sink(effective_batch_bytes(settings), way.cut_at, settings.page_cache == page_cache_policy::direct),
      settings_(settings),
      path_(settings.path.empty() ? settings.path : std::filesystem::absolute(settings.path)),
      way_(way) {
  way_.open = with_settings(way_.open, settings_);
}

void file_sink::replace_file(os::descriptor fresh) noexcept {
  file_ = std::move(fresh);
  struct stat facts {};
  if (os::calls().fstat(fd(), &facts) != 0) return;
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  regular_ = S_ISREG(facts.st_mode);
  end_bytes_ = regular_ ? static_cast<std::uint64_t>(facts.st_size) : 0;
  destination_changed(end_bytes_ > 0 ? last_byte_of(fd()) : std::byte{'\n'});
}

outcome file_sink::sync() noexcept {
  if (const outcome flushed = flush(); !flushed.ok()) return flushed;
  return os::sync_data(fd());
}

bool file_sink::path_leads_elsewhere() const noexcept {
  struct stat facts {};
  if (os::calls().stat(path_.c_str(), &facts) != 0) return errno == ENOENT;
  return facts.st_dev != device_ || facts.st_ino != inode_;
}

outcome file_sink::open_anew() noexcept {
  reopen_wanted_ = false;
  try {
    return adopt(open_file());
  } catch (const std::system_error& refused) {
    return {errc::io, refused.code().value()};
  } catch (...) {
    return {errc::io, ENOMEM};
  }
}

outcome file_sink::reopen() noexcept {
  // Opening the same file a second time would only meet our own lock.
  if (regular_ && !path_leads_elsewhere()) return {};
  if (mid_line() && !holds()) {
    reopen_wanted_ = true;
    wish_line_end();
    return {errc::pending, 0};
  }
  // What is held goes to the new file: the old one may be deleted, and its disk full until it is closed.
  return open_anew();
}

outcome file_sink::take_next_file(os::descriptor fresh) noexcept {
  if (holds() || mid_line()) return {errc::pending, 0};
  reopen_wanted_ = false;
  return adopt(std::move(fresh));
}

void file_sink::at_line_end() noexcept {
  // If this fails, the old file stays in use and maintain() tries again.
  if (reopen_wanted_) static_cast<void>(open_anew());
}

outcome file_sink::maintain() noexcept {
  if (!settings_.reopen || !regular_ || !path_leads_elsewhere()) return {};
  const outcome result = reopen();
  if (result.code == errc::pending) return {};
  const bool told_already = !result.ok() && result.os_error == reopen_error_;
  reopen_error_ = result.os_error;
  return told_already ? outcome{} : result;
}

void file_sink::disown_after_fork() noexcept { file_.reset(); }

std::unique_ptr<sink> make_line_sink(line_sink_parts parts) noexcept {
  return std::unique_ptr<sink>(new (std::nothrow) line_sink(std::move(parts)));
}

}  // namespace penstock::sinks
