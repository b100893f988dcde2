// SPDX-License-Identifier: MIT
// A ring file open for writing: the lock, the mapping, the guard against truncation, and the two moves of a writer, make_room() and
// commit(). What the sink's protocol asks for beyond that (errors held, rebuilding, reopening) is in mmap_ring_sink.cpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include <penstock/base/error.hpp>
#include <penstock/config.hpp>

#include "lib/os/file.hpp"
#include "lib/os/mapping.hpp"
#include "lib/os/sigbus_guard.hpp"
#include "sinks/ring_format.hpp"
#include "sinks/ring_frames.hpp"

namespace penstock::sinks {

/// Owner:  the lock of the file belongs to this object; it goes with it, or with the process.
/// Thread: never used concurrently.
class ring_file {
 public:
  /// Opens the ring at settings.path, or makes it: its blocks are allocated and its page faults taken here. A ring that is there is
  /// continued behind its last committed frame. `first_sequence` numbers the first frame of a new file.
  ///
  /// Errors: config_error for a size that does not fit and for files that are no ring; std::system_error for what the system refuses. A
  /// file
  ///         that was made here is removed again, any other is left as it was.
  static std::unique_ptr<ring_file> open(const sink_config& settings, std::uint64_t first_sequence = 1);

  ring_file(const ring_file&) = delete;
  ring_file& operator=(const ring_file&) = delete;
  ~ring_file();

  /// Room for the lines of the next frame, up to a page boundary. Oldest frames give way. The same room until commit().
  std::span<std::byte> make_room() noexcept;

  /// Commits the first `used_bytes` bytes of the room as a frame; they are in the file for every reader from here on.
  void commit(std::size_t used_bytes, std::int64_t time_ns) noexcept;

  /// Makes all that was committed durable. After a failure, what was not written then is written again by the next call: the kernel takes
  /// failed pages for written, so asking it once more would be answered by a lie. Without `sync` in its configuration, the ring is not made
  /// so that this would help: it goes on to fail.
  outcome sync() noexcept;

  /// True once an access hit a page that has no file behind it any more. The memory stays usable, but nobody will ever read it.
  bool damaged() const noexcept { return guard_->hit(); }
  const std::byte* fault_address() const noexcept { return guard_->fault_address(); }

  /// How the file stands beside what was opened.
  struct standing {
    bool at_path = false;  ///< the path still names it
    bool moved = false;    ///< the path names nothing, or another file
    bool shrunk = false;   ///< it lost bytes
    bool empty = false;
  };
  standing look_at(const std::filesystem::path& path) const noexcept;

  /// Whether the newest frame ends inside a line.
  bool line_unfinished() const noexcept { return line_unfinished_; }
  /// Says that what comes next is the rest of a line whose beginning is lost: readers leave it out.
  void expect_rest_of_line() noexcept { line_unfinished_ = true; }

  std::uint64_t next_sequence() const noexcept { return sequence_; }
  /// Numbers the frames to come from `sequence` on, if theirs would be less.
  void number_from(std::uint64_t sequence) noexcept { sequence_ = std::max(sequence_, sequence); }

  /// Notes in the file that from here on the process may end at any time without anything missing.
  void note_stop() noexcept;

  /// In a forked child: forgets everything, closing the descriptor only.
  void disown() noexcept;

 private:
  ring_file(os::descriptor file, const sink_config& settings, bool is_new, std::uint64_t first_sequence);

  ring_header& header() const noexcept { return *reinterpret_cast<ring_header*>(mapping_.header()); }
  ring_data data() const noexcept { return {mapping_.data(), mapping_.data_bytes(), file_id_}; }
  frame_header& header_at(std::uint64_t position) const noexcept;
  void take_over(bool is_new);
  void drop_frames_before(std::uint64_t limit) noexcept;
  void make_dirty_again() noexcept;

  os::descriptor file_;
  os::mirrored_mapping mapping_;
  std::optional<os::sigbus_guard> guard_{};  // goes before the mapping
  std::size_t batch_bytes_;
  bool checksums_;
  pid_t owner_pid_;
  std::uint64_t file_id_ = 0;
  std::size_t room_bytes_ = 0;  ///< lent and not committed
  std::uint64_t head_ = 0;      ///< position of the open frame's header
  std::uint64_t tail_ = 0;      ///< what the header page says
  std::uint64_t sequence_;      ///< of the open frame
  bool line_unfinished_ = false;
  std::uint64_t synced_ = 0;  ///< all before is on the medium, as far as this process knows
  bool dirty_ = true;
  outcome failed_sync_{};  ///< the last sync; ok: it worked
};

}  // namespace penstock::sinks
