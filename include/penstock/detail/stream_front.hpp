// SPDX-License-Identifier: MIT
// The part of a thread stream that a log statement touches itself. Whatever is out of the ordinary (no stream yet, chunk full, text instead
// of arguments, another clock, backend to be woken) is told by `limit`: the room before it is used up, and the statement calls the library.
//
//   chunk     | header | record | record | record |  room for the fast path  | ...
//   chunk_begin ^                                 ^ write                    ^ limit <= end of the chunk
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <penstock/base/export.hpp>
#include <penstock/base/level.hpp>
#include <penstock/detail/record.hpp>

namespace penstock::detail {

/// Starts every chunk. `committed_bytes` is the offset from the chunk's start up to which records are whole.
struct chunk_front {
  std::atomic<std::uint32_t> committed_bytes;  ///< the thread's release store pairs with the reader's acquire load
};

struct stream_front {
  // Written by the thread that logs; read by others only where the member is atomic.
  std::byte* write = nullptr;
  std::byte* limit = nullptr;
  std::byte* chunk_begin = nullptr;
  std::atomic<std::uint64_t> accepted[level_count]{};  ///< plain stores of the thread; stats() reads

  /// Set by the reader, which has forgotten this stream; on a line of its own, since the thread reads it after each commit. The commit
  /// comes first: tested before it, records stay unseen (docs/architecture.md, parking).
  alignas(64) std::atomic<std::uint32_t> parked{0};
};

/// The calling thread's stream; a shared one without room before the first record, so that the fast path needs no test of its own.
extern __attribute__((visibility("default"), tls_model("initial-exec"))) constinit thread_local stream_front* current_stream;

/// Finds a place for a record of `record_bytes` bytes that the fast path has no room for: opens a stream or a chunk, waits or drops as the
/// policy says, or gives a scratch place if the record is to become text. Null: the record was dropped and counted.
///
/// `time_ticks` is replaced if records take their time from another clock.
/// Errors: none leave; a call on the backend thread never waits.
PENSTOCK_EXPORT std::byte* reserve_slow(std::size_t record_bytes, const call_site& site, std::uint32_t logger_index,
                                        std::uint64_t& time_ticks) noexcept;

/// Commits what was written at the place that reserve_slow() gave.
PENSTOCK_EXPORT void commit_slow(std::byte* place) noexcept;

/// The stream was parked when a record was committed: tells the backend about it.
PENSTOCK_EXPORT void unpark() noexcept;

/// A record whose level may be at or above a sink's flush_level was committed: wakes the backend if it sleeps.
PENSTOCK_EXPORT void wake_for_urgent() noexcept;

/// Makes a text record out of whatever `format` lays out; for statements with arguments that cannot be deferred. `format` runs at once, on
/// this thread, and may throw or log.
PENSTOCK_EXPORT void log_text(const call_site& site, const source_facts* source, std::uint32_t logger_index, std::uint64_t time_ticks,
                              void (*format)(const void* context, text_out& out), const void* context) noexcept;

/// Publishes the record of `record_bytes` bytes that was written at `stream.write`, then looks whether the reader has forgotten the stream.
/// The order is what makes parking safe; tests pass an `unpark` of their own.
template <class Unpark>
[[gnu::always_inline]] inline void commit(stream_front& stream, std::size_t record_bytes, Unpark tell) noexcept {
  stream.write += record_bytes;
  reinterpret_cast<chunk_front*>(stream.chunk_begin)
      ->committed_bytes.store(static_cast<std::uint32_t>(stream.write - stream.chunk_begin), std::memory_order_release);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (stream.parked.load(std::memory_order_relaxed) != 0) [[unlikely]]
    tell();
}
[[gnu::always_inline]] inline void commit(stream_front& stream, std::size_t record_bytes) noexcept {
  commit(stream, record_bytes, [] { unpark(); });
}

[[gnu::always_inline]] inline void count_accepted(stream_front& stream, level of_record) noexcept {
  std::atomic<std::uint64_t>& count = stream.accepted[static_cast<std::size_t>(of_record)];
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace penstock::detail
