// SPDX-License-Identifier: MIT
// `io_uring`: several batches on their way at once, written by the kernel's workers while the backend goes on. What surprises: an error
// comes back later than the submit() that caused it, from the next submit(), flush(), sync() or resume(). What was submitted behind the
// failed batch is then held as well; bytes of it that reached the file behind the gap are cut off again, so that the file never keeps one.
//
//   lend()   takes the buffer that was freed last           flush()  until the queue is empty
//   submit() queue ──► ring ──► kernel ──► results ──► the contiguous prefix grows, its buffers are free
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <penstock/config.hpp>
#include <penstock/sink.hpp>

#include "sinks/cache_dropper.hpp"
#include "sinks/next_file.hpp"
#include "sinks/uring.hpp"
#include "sinks/uring_buffers.hpp"
#include "sinks/uring_file.hpp"
#include "sinks/write_queue.hpp"

namespace penstock::sinks {

/// How many requests can be on their way: each batch, one sync, one allocation.
constexpr unsigned uring_entries(const sink_config& settings) noexcept {
  return (settings.queue_depth == 0 ? 1 : settings.queue_depth) + 2;
}

class io_uring_sink final : public sink, public next_file_taker {
 public:
  /// `ring` has been tried on `file`.
  ///
  /// Errors: std::bad_alloc.
  io_uring_sink(const sink_config& settings, uring_file file, uring ring);
  ~io_uring_sink() override;

  batch lend(lend_request request) noexcept override;
  outcome submit(std::size_t used_bytes) noexcept override;
  outcome resume() noexcept override;
  /// What the kernel still has after a second counts as not written, but cannot be called back: it stays in the queue.
  std::size_t abandon() noexcept override;
  outcome flush() noexcept override;
  outcome sync() noexcept override;
  outcome reopen() noexcept override;
  /// All bytes that were submitted and are not in the contiguous prefix, those that are held after an error included.
  std::uint64_t in_flight_bytes() const noexcept override { return queue_.unwritten_bytes(); }
  outcome maintain() noexcept override;
  std::unique_ptr<sink> retire() noexcept override;
  void disown_after_fork() noexcept override;
  sink_description describe() const override;
  const os::open_options& next_file_options() const noexcept override { return open_options_; }
  outcome take_next_file(os::descriptor fresh) noexcept override;

 private:
  using clock = std::chrono::steady_clock;

  // Tags of the requests that are not writes; those are tagged by their batch's place in the queue.
  static constexpr std::uint64_t sync_tag = std::uint64_t{1} << 32;
  static constexpr std::uint64_t allocate_tag = sync_tag + 1;

  // io_uring_sink.cpp: what is lent, held and given up
  bool in_child() const noexcept { return buffers_.in_child(); }
  bool written_ends_inside_line() const noexcept;
  std::size_t add_seam(std::size_t used_bytes) noexcept;
  bool drain(std::chrono::nanoseconds most) noexcept;
  bool settle_by(clock::time_point deadline) noexcept;
  void finish() noexcept;

  // io_uring_file_change.cpp: the file is another one, or ends elsewhere
  bool change_is_due() const noexcept { return reopen_wanted_ && (!error_.ok() || (queue_.empty() && !mid_line_)); }
  outcome open_anew() noexcept;
  void go_on_in(uring_file fresh) noexcept;
  void notice_truncation() noexcept;
  void start_again_at(std::uint64_t size_bytes) noexcept;
  std::uint64_t end_open_line(std::uint64_t size_bytes) noexcept;

  // io_uring_requests.cpp: the ring
  struct piece {
    std::size_t bytes = 0;
    bool direct = false;
  };
  piece next_piece(const queued_batch& one) const noexcept;
  void advance() noexcept;
  void collect() noexcept;
  void take_result(uring_result result) noexcept;
  void take_written(queued_batch& one, int result) noexcept;
  void take_synced(int result) noexcept;
  void take_allocated(int result) noexcept;
  void release_done() noexcept;
  void settle() noexcept;
  void issue() noexcept;
  void allocate_ahead() noexcept;
  void send() noexcept { note_sent(ring_.send()); }
  void wait(std::chrono::nanoseconds most) noexcept;
  void note_sent(int os_error) noexcept;
  void fall_back(int os_error) noexcept;
  void write_without_ring() noexcept;
  bool quiet() const noexcept { return queue_.on_the_way() == 0 && !syncing_ && !allocating_; }

  sink_config settings_;
  os::open_options open_options_;
  std::filesystem::path path_;
  uring_file file_;
  uring_buffers buffers_;
  uring ring_;  ///< behind the buffers, so that it goes first
  write_queue queue_;
  cache_dropper dropper_;
  outcome error_{};  ///< not ok: what is queued is held

  bool lent_ = false;
  unsigned lent_buffer_ = 0;
  bool lent_with_seam_ = false;
  std::span<std::byte> room_{};

  bool mid_line_ = false;             ///< what was submitted ends inside a line
  bool written_inside_line_ = false;  ///< so does what has left the queue
  bool seam_ = false;                 ///< the file ends inside a line that will not go on: a newline comes first
  bool line_end_wished_ = false;
  bool reopen_wanted_ = false;
  outcome reopen_result_{};                    ///< of the last time that the file was opened anew
  int reopen_error_ = 0;                       ///< the errno that maintain() has told last, so that one trouble is told once
  std::optional<std::uint64_t> truncated_to_;  ///< someone cut the file off here; what is on its way is waited for

  bool direct_ = false;
  bool syncing_ = false;
  std::uint64_t sync_target_ = 0;
  std::uint64_t synced_to_ = 0;
  outcome sync_result_{};

  bool allocate_ = true;
  bool allocating_ = false;
  bool allocated_ = false;  ///< something may have been, behind the text
  bool give_back_ = false;  ///< an allocation failed half-way
  std::uint64_t allocated_to_ = 0;
  std::uint64_t begin_ = 0;  ///< where this sink began to write to the file

  bool without_ring_ = false;       ///< the ring has failed: every batch is written by pwrite(2)
  bool buffers_read_late_ = false;  ///< the kernel may still read from them
  std::optional<clock::time_point> refused_since_;
  std::string fallback_;
  std::string note_;
};

/// "what: reason (errno N); remedy" for a ring that does not work.
std::string uring_refusal(const char* what, int os_error);

}  // namespace penstock::sinks
