// SPDX-License-Identifier: MIT
#include "lib/transport/exchange.hpp"

#include <concurrentqueue/concurrentqueue.h>

#include <algorithm>
#include <climits>
#include <cstdlib>

#include "lib/os/futex.hpp"
#include "lib/os/mapping.hpp"
#include "lib/transport/arena.hpp"

namespace penstock::transport {

namespace {

using chunk_queue = moodycamel::ConcurrentQueue<chunk*>;
using stream_queue = moodycamel::ConcurrentQueue<thread_stream*>;

// While others take what is given, one of those who wait is woken after 8 turns, if it is alone; sooner where more do, so that the last
// of four sleeps no longer than it (~12 ms under load). Not sooner than after 2 turns: 64 threads would take the processors for themselves.
constexpr unsigned waits_unheard_max = 8;
constexpr unsigned waits_counted_max = 4;
constexpr int spins_before_sleep = 300;  // ~10 us: about what the backend needs to free a chunk while it is at work.

}  // namespace

struct exchange::queues {
  // The reader alone fills the free queues, by one token each: order per token makes them first in, first out.
  chunk_queue pages{1024};
  chunk_queue blocks{1024};
  moodycamel::ProducerToken page_giver{pages};
  moodycamel::ProducerToken block_giver{blocks};
  stream_queue announced{256};
  moodycamel::ConsumerToken adopter{announced};

  chunk_queue& of(chunk_kind kind) noexcept { return kind == chunk_kind::page ? pages : blocks; }
  moodycamel::ProducerToken& giver(chunk_kind kind) noexcept { return kind == chunk_kind::page ? page_giver : block_giver; }
};

class announcer {
 public:
  explicit announcer(stream_queue& queue) : token(queue) {}
  moodycamel::ProducerToken token;
};

void announcer_deleter::operator()(announcer* dead) const noexcept { delete dead; }

exchange::exchange() : queues_(std::make_unique<queues>()) {}
exchange::~exchange() = default;

void exchange::set_budget(std::size_t memory_bytes) {
  const std::size_t pages = memory_bytes / page_bytes;
  open_arena(pages, 0);
  lent_pages_ = 0;
  budget_pages_.store(std::min(pages, current_.load(std::memory_order_relaxed)->pages()), std::memory_order_release);
  make_room(0);
}

// Makes the first arena of that size from index `from` on the current one; the last serves for whatever size.
void exchange::open_arena(std::size_t pages, std::size_t from) {
  for (std::size_t i = from; i < std::size(arenas_); ++i) {
    const bool last = i + 1 == std::size(arenas_);
    if (!arenas_[i]) arenas_[i] = std::make_unique<arena>(static_cast<std::uint8_t>(i), pages);
    if (arenas_[i]->pages() != pages && !last) continue;
    current_.store(arenas_[i].get(), std::memory_order_release);
    return;
  }
}

void exchange::lend_beyond_budget() noexcept {
  try {
    if (out_of_slots_.exchange(false, std::memory_order_relaxed)) {
      const arena* const full = current_.load(std::memory_order_relaxed);
      open_arena(full->pages(), static_cast<std::size_t>(full->index()) + 1);
    }
  } catch (...) {
    return;  // No address space: whoever waits goes on waiting.
  }
  const std::size_t more_pages = std::max(wanted_pages_.exchange(0, std::memory_order_relaxed), block_pages);
  lent_pages_ += more_pages;
  budget_pages_.fetch_add(more_pages, std::memory_order_relaxed);
  wake_all_waiting();
}

void exchange::take_back_loan() noexcept {
  if (lent_pages_ == 0) return;
  const std::size_t own_pages = budget_pages_.load(std::memory_order_relaxed) - lent_pages_;
  if (used_pages_.load(std::memory_order_relaxed) > own_pages / 2) return;
  lent_pages_ = 0;
  budget_pages_.store(own_pages, std::memory_order_relaxed);
  make_room(0);
}

chunk* exchange::at(chunk_ref reference) noexcept { return arenas_[reference >> 56]->at(reference); }

chunk* exchange::open(chunk* taken) noexcept {
  taken->next.store(0, std::memory_order_relaxed);
  taken->committed_bytes.store(sizeof(chunk), std::memory_order_relaxed);
  used_pages_.fetch_add(taken->pages(), std::memory_order_relaxed);
  return taken;
}

chunk* exchange::take_recycled(chunk_kind kind) noexcept {
  chunk* found = nullptr;
  return queues_->of(kind).try_dequeue(found) ? found : nullptr;
}

// Makes `pages` pages resident on account, taking memory away from recycled chunks if the budget asks for it.
bool exchange::make_room(std::size_t pages) noexcept {
  const std::size_t budget = budget_pages_.load(std::memory_order_relaxed);
  std::size_t resident = resident_pages_.load(std::memory_order_relaxed);
  for (;;) {
    if (resident + pages <= budget) {
      if (resident_pages_.compare_exchange_weak(resident, resident + pages, std::memory_order_relaxed)) return true;
      continue;
    }
    chunk* spare = take_recycled(chunk_kind::block);
    if (spare == nullptr) spare = take_recycled(chunk_kind::page);
    if (spare == nullptr) return false;
    const std::size_t freed_pages = spare->pages();
    arenas_[spare->self >> 56]->make_cold(spare);
    resident = resident_pages_.fetch_sub(freed_pages, std::memory_order_relaxed) - freed_pages;
  }
}

chunk* exchange::take(chunk_kind kind, std::size_t bytes) noexcept {
  if (kind != chunk_kind::run)
    if (chunk* recycled = take_recycled(kind)) return open(recycled);
  const std::size_t pages = kind == chunk_kind::page ? 1 : kind == chunk_kind::block ? block_pages : (bytes + page_bytes - 1) / page_bytes;
  if (!make_room(pages)) return nullptr;
  chunk* fresh = current_.load(std::memory_order_acquire)->take_cold(kind, pages);
  if (fresh != nullptr) {
    // One call for all of a block, instead of a page fault in each of the next 16 calls that come to a new page.
    if (kind == chunk_kind::block) static_cast<void>(os::populate_for_writing({fresh->begin(), fresh->bytes}));
    return open(fresh);
  }
  resident_pages_.fetch_sub(pages, std::memory_order_relaxed);
  out_of_slots_.store(true, std::memory_order_relaxed);
  return nullptr;
}

bool exchange::may_open_block() const noexcept {
  return (open_blocks_.load(std::memory_order_relaxed) + 1) * block_pages <= budget_pages_.load(std::memory_order_relaxed) / 2;
}

void exchange::give(chunk* done) noexcept {
  const std::size_t pages = done->pages();
  used_pages_.fetch_sub(pages, std::memory_order_relaxed);
  arena* home = arenas_[done->self >> 56].get();
  const bool recyclable = done->kind() != chunk_kind::run && home == current_.load(std::memory_order_relaxed);
  if (recyclable && queues_->of(done->kind()).enqueue(queues_->giver(done->kind()), done)) return;
  home->make_cold(done);
  resident_pages_.fetch_sub(pages, std::memory_order_relaxed);
}

void exchange::wake_waiting() noexcept {
  // Pairs with the increment in waiter's constructor: either the waiter's next take() sees the chunk, or this sees the waiter.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint32_t waiting = waiting_.load(std::memory_order_relaxed);
  if (waiting == 0) return;
  const std::size_t budget = budget_pages_.load(std::memory_order_relaxed);
  const std::size_t used = used_pages_.load(std::memory_order_relaxed);
  if (claimed() || used + budget / 4 <= budget) return wake_all_waiting();
  waits_unheard_ += std::min(waiting, waits_counted_max);
  if (used + budget / 16 > budget && waits_unheard_ < waits_unheard_max) return;
  waits_unheard_ = 0;
  wake(1);
}

void exchange::wake_all_waiting() noexcept {
  waits_unheard_ = 0;
  wake(INT_MAX);
}

void exchange::wake(int threads_max) noexcept {
  freed_.fetch_add(1, std::memory_order_seq_cst);
  os::futex_wake(freed_, threads_max);
}

void exchange::waiter::want(std::size_t bytes) noexcept {
  const std::size_t pages = (bytes + sizeof(chunk) + page_bytes - 1) / page_bytes;
  std::size_t known = home_.wanted_pages_.load(std::memory_order_relaxed);
  while (known < pages && !home_.wanted_pages_.compare_exchange_weak(known, pages, std::memory_order_relaxed)) {
  }
}

void exchange::waiter::wait_for_memory(std::uint32_t seen, std::chrono::nanoseconds timeout) noexcept {
  for (int i = 0; i < spins_before_sleep; ++i) {
    if (home_.freed_.load(std::memory_order_relaxed) != seen) return;
    os::cpu_relax();
  }
  os::futex_wait(home_.freed_, seen, timeout);
}

void exchange::release_claim() noexcept {
  claimed_.store(false, std::memory_order_release);
  wake(INT_MAX);
}

announcer_ptr exchange::make_announcer() { return announcer_ptr(new announcer(queues_->announced)); }

void exchange::announce(announcer& own, thread_stream* stream) noexcept {
  // An announcement that fails for want of memory would hide the stream for ever; without memory for 8 bytes nothing works any more.
  if (!queues_->announced.enqueue(own.token, stream)) std::abort();
  announced_.fetch_add(1, std::memory_order_seq_cst);
}

thread_stream* exchange::adopt() noexcept {
  thread_stream* found = nullptr;
  if (!queues_->announced.try_dequeue(queues_->adopter, found)) return nullptr;
  ++adopted_;
  return found;
}

}  // namespace penstock::transport
