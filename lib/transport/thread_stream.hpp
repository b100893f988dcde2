// SPDX-License-Identifier: MIT
// One thread's chain of chunks: one writer (that thread), one reader (the backend; after stop() whoever holds the engine's lock).
//
//   reading_chunk_ --next--> chunk --next--> ... --next--> writing chunk
//        ^ read_offset_ .. read_limit_                        ^ write, committed_bytes
//
// A stream outlives its thread: it goes back to the registry and serves another one. Streams are never freed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <penstock/stats.hpp>

#include "lib/transport/exchange.hpp"
#include "lib/transport/text_spill.hpp"

namespace penstock::transport {

/// What a statement needs that does not go straight into a chunk. A formatter may log while its own record is being made: one frame each.
///
/// On lines of its own: beside what the backend reads for each record it costs both sides a third of their speed (T1: 11 against 15 million
/// lines/s, by the chance of the heap).
struct alignas(64) scratch_frame {
  text_spill arguments{};
  text_spill text{};
  std::size_t record_bytes = 0;
  bool as_text = false;
  scratch_frame* below = nullptr;          // The statement whose formatter logs this one.
  std::unique_ptr<scratch_frame> above{};  // Kept for the next that is nested so deep.
};

class alignas(64) thread_stream : public detail::stream_front {
 public:
  thread_stream(exchange& home, std::uint32_t index);

  // --- the thread's side ---

  /// Takes `opened` as the chunk to write to and links it behind the one in use.
  void open_chunk(chunk* opened) noexcept;
  /// Lets go of the chunk in use, so that a thread that waits for memory, or has just filled a run, holds none. The reader must be told.
  void detach_chunk() noexcept;
  /// Whether this thread has had a chunk yet.
  bool begun() const noexcept { return begun_; }
  chunk* writing() const noexcept { return reinterpret_cast<chunk*>(chunk_begin); }
  std::size_t chunk_rest_bytes() const noexcept { return static_cast<std::size_t>(chunk_end - write); }
  /// Bytes committed and not yet published as consumed.
  std::uint64_t unread_bytes() const noexcept { return produced_bytes() - consumed_.load(std::memory_order_acquire); }
  std::uint64_t produced_bytes() const noexcept {
    return sealed_bytes_ + (chunk_begin == nullptr ? 0 : static_cast<std::uint64_t>(write - chunk_begin) - sizeof(chunk));
  }
  /// Tells the reader that there is something, if it has forgotten this stream. True: it has to be woken or served.
  bool announce_if_parked() noexcept;
  void count_dropped(drop_reason reason, level of_record, std::uint64_t time_ticks) noexcept;
  void count_cut_short() noexcept { cut_short_.store(cut_short_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
  /// The thread ends: nothing is written any more until reuse().
  void close() noexcept { closed_.store(true, std::memory_order_release); }

  // --- the reader's side ---

  /// The next whole record, or null; looks at the thread's counter once and then works through all that was there.
  const detail::record_header* peek() noexcept {
    if (read_offset_ < read_limit_) return reinterpret_cast<const detail::record_header*>(read_base_ + read_offset_);
    return refill();
  }
  /// The record that peek() gave is done with.
  void pop(const detail::record_header* record) noexcept { read_offset_ += static_cast<std::uint32_t>(record->record_bytes()); }
  /// True if nothing is there that was committed before this call; does not move.
  bool drained() noexcept;
  /// Publishes what was read, for the thread's own reckoning.
  void publish_consumed() noexcept { consumed_.store(passed_bytes_ + read_offset_ - sizeof(chunk), std::memory_order_release); }
  /// Chunks that were read to their end since the last call, oldest first.
  std::vector<chunk*>& finished() noexcept { return finished_; }
  bool closed() const noexcept { return closed_.load(std::memory_order_acquire); }
  /// Takes the last chunk of a closed, drained stream; null if it never had one.
  chunk* release_chunk() noexcept;

  // --- registry ---

  /// Makes the stream ready for another thread.
  void reuse(int thread_id);
  std::uint32_t index() const noexcept { return index_; }
  /// One number for each thread that the stream serves.
  std::uint64_t id() const noexcept { return (std::uint64_t{index_} << 32) | generation_; }
  int thread_id() const noexcept { return thread_id_; }
  level_counts accepted_counts() const noexcept;
  void add_dropped(std::array<level_counts, drop_reason_count>& sum) const noexcept;
  std::uint64_t cut_short_count() const noexcept { return cut_short_.load(std::memory_order_relaxed); }
  std::uint64_t first_drop_ticks() const noexcept { return first_drop_ticks_.load(std::memory_order_relaxed); }
  std::uint64_t last_drop_ticks() const noexcept { return last_drop_ticks_.load(std::memory_order_relaxed); }
  void forget_drop_times() noexcept { first_drop_ticks_.store(0, std::memory_order_relaxed); }

  // The thread's own, beyond the fast path.
  std::unique_ptr<scratch_frame> first_frame{};
  scratch_frame* frame = nullptr;  // Of the innermost statement that is under way.
  std::byte* chunk_end = nullptr;
  std::byte* text_until = nullptr;  // `auto`: while `write` is below, records are text without looking again.

 private:
  const detail::record_header* refill() noexcept;
  void seal(chunk_ref next) noexcept;
  chunk* next_start() noexcept;

  exchange& home_;
  announcer_ptr announcer_;
  std::uint64_t sealed_bytes_ = 0;  // Of records in chunks before the one being written.
  std::atomic<std::uint64_t> dropped_[drop_reason_count][level_count]{};
  std::atomic<std::uint64_t> cut_short_{0};
  std::atomic<std::uint64_t> first_drop_ticks_{0};  // 0: none since the reader forgot it.
  std::atomic<std::uint64_t> last_drop_ticks_{0};
  std::atomic<bool> closed_{false};
  std::uint32_t index_;
  bool begun_ = false;  // The thread's.
  std::uint32_t generation_ = 0;
  int thread_id_ = 0;

  // Written by the reader, read by the thread when its room is used up.
  alignas(64) std::atomic<std::uint64_t> consumed_{0};

  // The reader's own.
  alignas(64) const std::byte* read_base_ = nullptr;
  std::uint32_t read_offset_ = sizeof(chunk);
  std::uint32_t read_limit_ = sizeof(chunk);
  std::uint64_t passed_bytes_ = 0;  // Of records in chunks before the one being read.
  std::vector<chunk*> finished_;

  chunk* taken_starts_ = nullptr;

  // Chunks that no link leads to, newest first: the thread's first, and those after it had none. Put there by the thread (release), taken
  // all at once by the reader (acquire).
  std::atomic<chunk*> starts_{nullptr};

 public:
  // The reader's own.
  bool active = false;         // It is in the reader's list.
  std::uint64_t line_era = 0;  // Changes when the clock was set.
  std::int64_t line_ns = 0;    // The time of its last line in that era: later ones are not before it.
};

}  // namespace penstock::transport
