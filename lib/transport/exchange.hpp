// SPDX-License-Identifier: MIT
// What passes between the threads that log and the backend: streams that have something, towards the backend; free chunks, back; and the
// one memory budget for all records on their way. The only place that knows the queue library.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "lib/transport/chunk.hpp"

namespace penstock::transport {

class arena;
class thread_stream;

/// A stream's own place in the queue of announcements: order holds per token, and a token is reused with its stream.
class announcer;
struct announcer_deleter {
  void operator()(announcer* dead) const noexcept;
};
using announcer_ptr = std::unique_ptr<announcer, announcer_deleter>;

class exchange {
 public:
  exchange();
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Sets the budget; chunks that threads still hold of an earlier one come back in time.
  ///
  /// Thread: no backend runs.
  /// Errors: std::system_error if the address space is refused; the former budget stays.
  void set_budget(std::size_t memory_bytes);
  std::size_t budget_bytes() const noexcept { return budget_pages_.load(std::memory_order_relaxed) * page_bytes; }
  std::size_t used_bytes() const noexcept { return used_pages_.load(std::memory_order_relaxed) * page_bytes; }

  /// A chunk ready for records; null: the budget is spent. `bytes` only for runs. Never waits.
  ///
  /// Thread: any.
  chunk* take(chunk_kind kind, std::size_t bytes = 0) noexcept;

  /// Whether one more thread may write into a block: open blocks may hold at most half of the budget, since an idle thread keeps its chunk.
  bool may_open_block() const noexcept;
  void block_opened() noexcept { open_blocks_.fetch_add(1, std::memory_order_relaxed); }
  void block_sealed() noexcept { open_blocks_.fetch_sub(1, std::memory_order_relaxed); }

  /// Gives back a chunk whose records are done. Call wake_waiting() after the last of a turn.
  ///
  /// Thread: the reader only.
  void give(chunk* done) noexcept;
  /// Wakes one of those who wait for memory once a sixteenth of the budget is free, or all if it is a quarter. More of them, or sooner,
  /// would take the reader's processor away from it while it has the most to do, and find little: one that is awake uses up what is given.
  /// So that the others do not wait for ever, one is woken after some calls that woke nobody, the sooner the more there are.
  void wake_waiting() noexcept;
  /// For when there is nothing left to be read: nobody else would wake the others.
  void wake_all_waiting() noexcept;
  bool anyone_waiting() const noexcept { return waiting_.load(std::memory_order_relaxed) != 0; }

  /// When somebody waits although no record is on its way: idle threads hold the whole budget in the chunks that they will go on with. What
  /// is waited for is lent beyond the budget, until take_back_loan() finds that the budget suffices again.
  ///
  /// Thread: the reader only.
  void lend_beyond_budget() noexcept;
  void take_back_loan() noexcept;

  /// Waiting for memory: register first, then try take() again before each sleep, so that a chunk given in between is never missed.
  /// wait_for_memory() spins a little, then sleeps until something is given or `timeout` is over; `seen` is freed_count() from before the
  /// take() that failed.
  class waiter {
   public:
    explicit waiter(exchange& home) noexcept : home_(home) { home_.waiting_.fetch_add(1, std::memory_order_seq_cst); }
    ~waiter() { home_.waiting_.fetch_sub(1, std::memory_order_seq_cst); }
    waiter(const waiter&) = delete;
    waiter& operator=(const waiter&) = delete;
    std::uint32_t freed_count() const noexcept { return home_.freed_.load(std::memory_order_seq_cst); }
    /// How much is waited for, so that the reader knows what to lend.
    void want(std::size_t bytes) noexcept;
    void wait_for_memory(std::uint32_t seen, std::chrono::nanoseconds timeout) noexcept;

   private:
    exchange& home_;
  };

  /// A large record waits for many pages at once; while it does, nobody else takes any.
  bool try_claim() noexcept { return !claimed_.exchange(true, std::memory_order_acq_rel); }
  void release_claim() noexcept;
  bool claimed() const noexcept { return claimed_.load(std::memory_order_relaxed); }

  announcer_ptr make_announcer();
  /// Tells the reader that `stream` has something. Thread: the stream's own.
  void announce(announcer& own, thread_stream* stream) noexcept;
  /// The next announced stream, or null. `announced` is read once a turn, since an empty queue is slow to ask (26 us at 1,000 producers).
  ///
  /// Thread: the reader only.
  thread_stream* adopt() noexcept;
  bool anything_announced() const noexcept { return announced_.load(std::memory_order_seq_cst) != adopted_; }

  chunk* at(chunk_ref reference) noexcept;

 private:
  struct queues;

  chunk* open(chunk* taken) noexcept;
  chunk* take_recycled(chunk_kind kind) noexcept;
  bool make_room(std::size_t pages) noexcept;
  void wake(int threads_max) noexcept;
  void open_arena(std::size_t pages, std::size_t from);

  std::unique_ptr<queues> queues_;
  std::unique_ptr<arena> arenas_[256];
  std::atomic<arena*> current_{nullptr};
  std::atomic<std::size_t> budget_pages_{0};
  std::atomic<bool> claimed_{false};
  std::size_t lent_pages_ = 0;  // Beyond the budget; the reader's own.
  std::atomic<std::size_t> wanted_pages_{0};
  std::atomic<bool> out_of_slots_{false};
  alignas(64) std::atomic<std::size_t> resident_pages_{0};  // In use, or recycled and still holding memory.
  std::atomic<std::size_t> used_pages_{0};
  std::atomic<std::size_t> open_blocks_{0};
  alignas(64) std::atomic<std::uint32_t> waiting_{0};    // Threads in wait_for_memory(); the reader looks after each give.
  std::atomic<std::uint32_t> freed_{0};                  // Futex word.
  alignas(64) std::atomic<std::uint64_t> announced_{0};  // Written by threads that announce.
  alignas(64) std::uint64_t adopted_ = 0;                // The reader's own.
  unsigned waits_unheard_ = 0;  // The reader's own: threads that waited, summed over calls of wake_waiting() in a row that woke nobody.
};

}  // namespace penstock::transport
