// SPDX-License-Identifier: MIT
#include "sinks/ring_create.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "lib/os/mapping.hpp"
#include "lib/os/signal_guard.hpp"

namespace penstock::sinks {
namespace {

std::string size_text(std::uint64_t bytes) {
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
  constexpr std::uint64_t kibibyte = std::uint64_t{1} << 10;
  if (bytes != 0 && bytes % mebibyte == 0) return "\"" + std::to_string(bytes / mebibyte) + " MiB\"";
  if (bytes != 0 && bytes % kibibyte == 0) return "\"" + std::to_string(bytes / kibibyte) + " KiB\"";
  return "\"" + std::to_string(bytes) + " B\"";
}

std::string named(const sink_config& settings) { return "the ring '" + settings.path.string() + "'"; }

bool synced(const sink_config& settings) noexcept { return settings.sync.each_batch || settings.sync.interval.count() != 0; }

struct stat facts_of(int fd, const sink_config& settings) {
  struct stat facts {};
  if (os::calls().fstat(fd, &facts) != 0) throw std::system_error(errno, std::generic_category(), "cannot look at " + named(settings));
  return facts;
}

bool is_at_path(const struct stat& facts, const std::filesystem::path& path) noexcept {
  struct stat there {};
  return os::calls().stat(path.c_str(), &there) == 0 && there.st_dev == facts.st_dev && there.st_ino == facts.st_ino;
}

/// Writes zeros behind the first page.
int write_zeros(int fd, std::size_t file_bytes) noexcept {
  static constexpr std::array<std::byte, 65536> zeros{};
  for (std::size_t offset = os::system_page_bytes(); offset < file_bytes;) {
    const std::size_t piece_bytes = std::min(zeros.size(), file_bytes - offset);
    const os::write_result written = os::write_all_at(fd, std::span(zeros).first(piece_bytes), offset);
    if (!written.result.ok()) return written.result.os_error != 0 ? written.result.os_error : EIO;
    offset += piece_bytes;
  }
  return 0;
}

/// Allocates real blocks for the whole file: with a hole, a store would be answered by SIGBUS once the disk is full.
///
/// Source: man 2 fallocate; where a file system lacks it, zeros are written instead.
int allocate(int fd, std::size_t file_bytes, bool is_new) noexcept {
  int result = 0;
  do {
    result = os::calls().fallocate(fd, 0, 0, static_cast<off_t>(file_bytes));
  } while (result != 0 && errno == EINTR);
  if (result == 0) return 0;
  if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL) return errno;
  return is_new ? write_zeros(fd, file_bytes) : 0;  // else it was written in full when it was made
}

/// Writes the first page: from here on the file is known to be a ring, though an unfinished one.
int write_header(int fd, std::size_t file_bytes) {
  std::vector<std::byte> page(os::system_page_bytes());
  auto* const header = new (page.data()) ring_header{};
  header->magic = ring_magic;
  header->version = ring_version;
  header->header_bytes = static_cast<std::uint32_t>(page.size());
  header->file_bytes = file_bytes;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  header->created_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  if (getrandom(&header->file_id, sizeof header->file_id, GRND_NONBLOCK) != sizeof header->file_id)
    header->file_id = mixed(static_cast<std::uint64_t>(header->created_ns) ^ static_cast<std::uint64_t>(getpid()));
  const os::write_result written = os::write_all_at(fd, page, 0);
  return written.result.ok() ? 0 : written.result.os_error != 0 ? written.result.os_error : EIO;
}

void make(const opened_ring& opened, const sink_config& settings) {
  // Whoever starts us may take SIGXFSZ, which a file size limit raises, for its end.
  const os::write_signal_guard signals;
  int error = write_header(opened.file.get(), settings.size);
  if (error == 0) error = allocate(opened.file.get(), settings.size, true);
  // For a ring that is synced, the blocks are written and not only allocated: a disk that has less room than it says is met here, and what
  // a failed write-back left out can be brought out again later. Source: seen on ext4, Linux 6.18: a page whose first write-back failed is
  // written again, but its block stays marked as never written, and is read as zeros after the next mount.
  if (error == 0 && synced(settings)) error = write_zeros(opened.file.get(), settings.size);
  // A power cut shall not leave a file of zeros, which the next start would refuse as no ring.
  if (error == 0 && os::calls().fdatasync(opened.file.get()) != 0 && errno != EINVAL && errno != EINTR) error = errno;
  if (error == 0) return;
  opened.undo();
  throw std::system_error(
      error, std::generic_category(),
      "cannot allocate the " + std::to_string(settings.size) + " bytes of " + named(settings) + ": make room, or configure a smaller size");
}

/// Refuses what is not a ring as configured; true if it is one whose making was cut off.
bool check_existing(int fd, const struct stat& facts, const sink_config& settings) {
  alignas(ring_header) std::array<std::byte, sizeof(ring_header)> bytes{};
  ssize_t got = 0;
  do {
    got = pread(fd, bytes.data(), bytes.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got < 0) throw std::system_error(errno, std::generic_category(), "cannot read " + named(settings));
  const auto* const header = reinterpret_cast<const ring_header*>(bytes.data());
  const bool whole = static_cast<std::size_t>(got) == bytes.size();
  if (!whole || header->magic != ring_magic)
    throw config_error("'" + settings.path.string() + "' is not a ring file: move it away, or give the ring a path of its own");
  if (header->version != ring_version || header->header_bytes != os::system_page_bytes()) {
    throw config_error(named(settings) + " has format version " + std::to_string(header->version) + " and pages of " +
                       std::to_string(header->header_bytes) + " bytes; this library writes version " + std::to_string(ring_version) +
                       " with pages of " + std::to_string(os::system_page_bytes()) + ": move the file away");
  }
  if (header->state.load(std::memory_order_relaxed) == ring_state::creating) return true;
  if (header->file_bytes != settings.size) {
    throw config_error(named(settings) + " has " + std::to_string(header->file_bytes) + " bytes, but size = " + size_text(settings.size) +
                       " (" + std::to_string(settings.size) + " bytes) is configured: set size = " + size_text(header->file_bytes) +
                       ", or move the file away");
  }
  if (static_cast<std::uint64_t>(facts.st_size) != header->file_bytes) {
    throw config_error(named(settings) + " was made with " + std::to_string(header->file_bytes) + " bytes and has " +
                       std::to_string(facts.st_size) + " now; something truncated or extended it: move the file away");
  }
  return false;
}

}  // namespace

void check_ring_size(const sink_config& settings) {
  const std::size_t page = os::system_page_bytes();
  const std::size_t least_bytes = std::max(ring_file_bytes_min, 16 * page);
  if (settings.size < least_bytes) {
    throw config_error(named(settings) + ": size = " + size_text(settings.size) + " is too small; the least is " + size_text(least_bytes));
  }
  if (settings.size % page != 0) {
    throw config_error(named(settings) + ": size = " + std::to_string(settings.size) + " bytes is not a multiple of the page size " +
                       std::to_string(page) + "; try " + size_text((settings.size / page + 1) * page));
  }
}

void opened_ring::undo() const noexcept {
  if (!is_new) return;
  if (made_here)
    ::unlink(path.c_str());
  else if (file.valid())
    static_cast<void>(os::calls().ftruncate(file.get(), 0));
  else
    static_cast<void>(::truncate(path.c_str(), 0));
}

opened_ring open_ring_file(const sink_config& settings) {
  constexpr int attempt_count_max = 16;
  const os::open_options options{.flags = O_RDWR,
                                 .mode = settings.mode,
                                 .follow_symlinks = settings.follow_symlinks,
                                 .create_folders = settings.create_folders,
                                 .regular_only = true,
                                 .lock = true};
  opened_ring opened{.path = settings.path};
  struct stat facts {};
  for (int attempt = 0;; ++attempt) {
    struct stat before {};
    opened.made_here = os::calls().stat(settings.path.c_str(), &before) != 0;
    opened.file = os::open_log_file(settings.path, options);
    facts = facts_of(opened.file.get(), settings);
    // Between open and lock its former owner may have removed or renamed it: then another file is the ring now.
    if (is_at_path(facts, settings.path)) break;
    if (attempt == attempt_count_max)
      throw std::system_error(EBUSY, std::generic_category(), named(settings) + " is removed again as soon as it is made; by whom?");
  }
  opened.is_new = facts.st_size == 0 || check_existing(opened.file.get(), facts, settings);
  if (facts.st_size != 0 && opened.is_new) {
    // Its making was cut off by a crash: nothing in it is worth keeping.
    opened.made_here = true;
    if (os::calls().ftruncate(opened.file.get(), 0) != 0)
      throw std::system_error(errno, std::generic_category(), "cannot begin " + named(settings) + " anew");
  }
  if (opened.is_new) {
    make(opened, settings);
  } else if (const int error = allocate(opened.file.get(), settings.size, false); error != 0) {
    throw std::system_error(error, std::generic_category(),
                            named(settings) + " has holes (was it copied?) and the disk has no room to fill them: make room");
  }
  return opened;
}

}  // namespace penstock::sinks
