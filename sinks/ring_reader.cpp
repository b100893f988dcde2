// SPDX-License-Identifier: MIT
#include "sinks/ring_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "lib/os/process_birth.hpp"

namespace penstock::sinks {
namespace {

os::descriptor open_for_reading(const std::filesystem::path& path) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "cannot open '" + path.string() + "'");
  return os::descriptor(fd);
}

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw std::runtime_error("'" + path.string() + "' " + why);
}

/// How to map the file, after all was checked that the mapping relies on.
os::mirror_options checked_shape(int fd, const std::filesystem::path& path) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0) throw std::system_error(errno, std::generic_category(), "cannot look at '" + path.string() + "'");
  if (!S_ISREG(facts.st_mode)) refuse(path, "is not a regular file, so it is no ring");
  alignas(ring_header) std::array<std::byte, sizeof(ring_header)> bytes{};
  ssize_t got = 0;
  do {
    got = ::pread(fd, bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw std::system_error(errno, std::generic_category(), "cannot read '" + path.string() + "'");
  const auto* const header = reinterpret_cast<const ring_header*>(bytes.data());
  if (static_cast<std::size_t>(got) < bytes.size() || header->magic != ring_magic)
    refuse(path, "is not a ring file; name the path of an mmap_ring sink");
  if (header->version != ring_version)
    refuse(path,
           "has ring format version " + std::to_string(header->version) + "; this tool reads version " + std::to_string(ring_version));
  if (header->state.load(std::memory_order_relaxed) != ring_state::ready)
    refuse(path, "is not finished: its writer is making it now, or was killed while it did; try again once it has started");
  const std::uint64_t header_bytes = header->header_bytes;
  const std::uint64_t page = os::system_page_bytes();
  const bool sound = header_bytes != 0 && header_bytes % page == 0 && header->file_bytes % page == 0 && header->file_bytes > header_bytes;
  if (!sound) refuse(path, "has a damaged header");
  if (static_cast<std::uint64_t>(facts.st_size) < header->file_bytes) {
    refuse(path, "was truncated: it was made with " + std::to_string(header->file_bytes) + " bytes and has " +
                     std::to_string(facts.st_size) + " now");
  }
  return {.header_bytes = static_cast<std::size_t>(header_bytes),
          .data_bytes = static_cast<std::size_t>(header->file_bytes - header_bytes),
          .writable = false};
}

}  // namespace

ring_reader::ring_reader(const std::filesystem::path& path)
    : path_(path), file_(open_for_reading(path)), mapping_(file_.get(), checked_shape(file_.get(), path)) {
  guard_.emplace(mapping_.whole());
  os::let_sigbus_through();
  stale_tail_ = header().tail.load(std::memory_order_acquire);
  true_tail_ = stale_tail_;
  if (!owner_lives()) true_tail_ = chain_at_rest(data(), stale_tail_).begin;
  cursor_ = true_tail_;
  check_not_truncated();
}

bool ring_reader::owner_lives() const noexcept {
  const auto pid = static_cast<pid_t>(header().owner_pid.load(std::memory_order_acquire));
  return os::process_lives(pid, header().owner_birth.load(std::memory_order_relaxed));
}

bool ring_reader::replaced() const noexcept {
  struct stat ours {};
  struct stat there {};
  if (::fstat(file_.get(), &ours) != 0 || ::stat(path_.c_str(), &there) != 0) return false;
  return ours.st_dev != there.st_dev || ours.st_ino != there.st_ino;
}

std::uint64_t ring_reader::tail() const noexcept {
  const std::uint64_t tail = header().tail.load(std::memory_order_acquire);
  return tail == stale_tail_ ? true_tail_ : tail;
}

/// Whether the writer has given the frame at the cursor up; if so, goes on with the oldest there is.
bool ring_reader::overtaken() noexcept {
  // What was copied was copied before the tail is loaded. Pairs with the writer's release fence between its store of the tail and its
  // stores of lines.
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint64_t oldest = tail();
  if (oldest <= cursor_) return false;
  cursor_ = oldest;
  // The rest of this line is gone, so its beginning is of no use.
  unfinished_.clear();
  return true;
}

void ring_reader::check_not_truncated() const {
  if (guard_->hit()) refuse(path_, "was truncated while it was read");
}

bool ring_reader::read(std::string& out) {
  for (;;) {
    const auto frame = frame_at(data(), cursor_);
    if (frame) {
      const auto lines = lines_of(data(), *frame);
      frame_lines_.assign(reinterpret_cast<const char*>(lines.data()), lines.size());
    }
    if (overtaken()) continue;
    check_not_truncated();
    if (!frame || !lines_match(*frame, std::as_bytes(std::span(frame_lines_)))) return false;
    take(*frame, out);
    return true;
  }
}

/// Appends what of `frame_lines_` completes lines, and keeps the rest.
void ring_reader::take(const frame_facts& frame, std::string& out) {
  if (next_sequence_ != 0 && frame.sequence > next_sequence_) losses_.overtaken_frames += frame.sequence - next_sequence_;
  next_sequence_ = frame.sequence + 1;
  cursor_ = frame.end();

  std::string_view text = frame_lines_;
  if (!frame.continues_line() && !unfinished_.empty()) {
    ++losses_.unfinished_lines;
    losses_.unfinished_line_bytes += unfinished_.size();
    unfinished_.clear();
  }
  if (frame.continues_line() && unfinished_.empty()) {
    // The beginning of this line was overwritten, or lost with its file.
    const std::size_t newline = text.find('\n');
    if (newline == std::string_view::npos) return;
    text.remove_prefix(newline + 1);
  }
  const std::size_t newline = text.rfind('\n');
  if (newline == std::string_view::npos) {
    unfinished_ += text;
    return;
  }
  out += unfinished_;
  out += text.substr(0, newline + 1);
  unfinished_.assign(text.substr(newline + 1));
}

ring_facts ring_reader::facts() const {
  ring_facts result{.file_bytes = header().file_bytes,
                    .data_bytes = mapping_.data_bytes(),
                    .created_ns = header().created_ns,
                    .owner_pid = static_cast<pid_t>(header().owner_pid.load(std::memory_order_acquire)),
                    .owner_lives = owner_lives(),
                    .owner_stopped = header().owner_stopped.load(std::memory_order_relaxed) != 0};
  // A living writer may overtake the walk; then it is tried again, a few times.
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::uint64_t before = tail();
    result.frames = follow_chain(data(), before, false);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (tail() == before) break;
  }
  check_not_truncated();
  return result;
}

}  // namespace penstock::sinks
