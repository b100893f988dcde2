// SPDX-License-Identifier: MIT
// Reads an mmap ring file, of a living or a dead process: whole lines, oldest first. It never writes to the file and takes no lock, so that
// the writer does not notice; it copies first and looks afterwards whether the writer has overtaken it meanwhile.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "lib/os/file.hpp"
#include "lib/os/mapping.hpp"
#include "lib/os/sigbus_guard.hpp"
#include "sinks/ring_format.hpp"
#include "sinks/ring_frames.hpp"

namespace penstock::sinks {

/// What a ring file says of itself.
struct ring_facts {
  std::uint64_t file_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::int64_t created_ns = 0;
  pid_t owner_pid = 0;  ///< 0: its last writer closed it
  bool owner_lives = false;
  bool owner_stopped = false;  ///< its writer ended in order, or may end at any time
  frame_chain frames{};
};

/// What a reader did not give, and why.
struct reader_losses {
  std::uint64_t overtaken_frames = 0;  ///< overwritten before they were read
  std::uint64_t unfinished_lines = 0;  ///< their writer was killed before it wrote the rest
  std::uint64_t unfinished_line_bytes = 0;
};

/// Thread: never used concurrently.
class ring_reader {
 public:
  /// Errors: std::system_error if the file cannot be opened or mapped, std::runtime_error if it is no ring.
  explicit ring_reader(const std::filesystem::path& path);

  /// Reads the next frame and appends the lines that it completes. False: nothing more is committed.
  ///
  /// Errors: std::runtime_error once the file was truncated under the mapping.
  bool read(std::string& out);

  /// Position of the frame that read() looks for next.
  std::uint64_t position() const noexcept { return cursor_; }
  /// Bytes of the line at the end whose rest is not committed yet.
  std::size_t unfinished_bytes() const noexcept { return unfinished_.size(); }
  const reader_losses& losses() const noexcept { return losses_; }

  ring_facts facts() const;
  bool owner_lives() const noexcept;
  /// Whether the path names another file by now: then this one is complete once it is read to its end and its owner has left it.
  bool replaced() const noexcept;

 private:
  const ring_header& header() const noexcept { return *reinterpret_cast<const ring_header*>(mapping_.header()); }
  ring_data data() const noexcept { return {mapping_.data(), mapping_.data_bytes(), header().file_id}; }
  std::uint64_t tail() const noexcept;
  bool overtaken() noexcept;
  void take(const frame_facts& frame, std::string& out);
  void check_not_truncated() const;

  std::filesystem::path path_;
  os::descriptor file_;
  os::mirrored_mapping mapping_;
  std::optional<os::sigbus_guard> guard_{};  // goes before the mapping
  std::uint64_t cursor_ = 0;                 ///< position of the next frame
  std::uint64_t next_sequence_ = 0;          ///< expected there; 0: any
  /// After a power cut the header page may be older than the frames: while it says `stale_tail_`, `true_tail_` holds.
  std::uint64_t stale_tail_ = 0;
  std::uint64_t true_tail_ = 0;
  std::string frame_lines_{};
  std::string unfinished_{};
  reader_losses losses_{};
};

}  // namespace penstock::sinks
