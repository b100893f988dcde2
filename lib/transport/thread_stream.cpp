// SPDX-License-Identifier: MIT
#include "lib/transport/thread_stream.hpp"

namespace penstock::transport {

thread_stream::thread_stream(exchange& home, std::uint32_t index) : home_(home), announcer_(home.make_announcer()), index_(index) {
  parked.store(1, std::memory_order_relaxed);
  finished_.reserve(16);
}

// Pairs with the acquire in refill(): whoever sees the link sees the last record of the chunk too.
void thread_stream::seal(chunk_ref next) noexcept {
  chunk* sealed = writing();
  sealed_bytes_ += static_cast<std::uint64_t>(write - chunk_begin) - sizeof(chunk);
  if (sealed->kind() == chunk_kind::block) home_.block_sealed();
  sealed->next.store(next, std::memory_order_release);
}

void thread_stream::open_chunk(chunk* opened) noexcept {
  if (chunk_begin == nullptr) {
    // The reader may not have come to the last start yet.
    opened->older = starts_.load(std::memory_order_relaxed);
    while (!starts_.compare_exchange_weak(opened->older, opened, std::memory_order_release, std::memory_order_relaxed)) {
    }
  } else {
    seal(opened->self);
  }
  begun_ = true;
  if (opened->kind() == chunk_kind::block) home_.block_opened();
  chunk_begin = opened->begin();
  chunk_end = opened->end();
  text_until = nullptr;
  write = chunk_begin + sizeof(chunk);
  limit = write;
}

void thread_stream::detach_chunk() noexcept {
  if (chunk_begin == nullptr) return;
  seal(no_chunk_yet);
  chunk_begin = chunk_end = write = limit = text_until = nullptr;
}

bool thread_stream::announce_if_parked() noexcept {
  if (parked.exchange(0, std::memory_order_seq_cst) == 0) return false;
  home_.announce(*announcer_, this);
  return true;
}

void thread_stream::count_dropped(drop_reason reason, level of_record, std::uint64_t time_ticks) noexcept {
  std::atomic<std::uint64_t>& count = dropped_[static_cast<std::size_t>(reason)][static_cast<std::size_t>(of_record)];
  last_drop_ticks_.store(time_ticks, std::memory_order_relaxed);
  if (first_drop_ticks_.load(std::memory_order_relaxed) == 0) first_drop_ticks_.store(time_ticks, std::memory_order_relaxed);
  count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

chunk* thread_stream::next_start() noexcept {
  if (taken_starts_ == nullptr) {
    // Newest first, as they were put there: turned round.
    for (chunk* each = starts_.exchange(nullptr, std::memory_order_acquire); each != nullptr;) {
      chunk* const older = each->older;
      each->older = taken_starts_;
      taken_starts_ = each;
      each = older;
    }
  }
  chunk* const oldest = taken_starts_;
  if (oldest != nullptr) taken_starts_ = oldest->older;
  return oldest;
}

const detail::record_header* thread_stream::refill() noexcept {
  for (;;) {
    if (read_base_ == nullptr) {
      chunk* first = next_start();
      if (first == nullptr) return nullptr;
      read_base_ = first->begin();
      read_offset_ = read_limit_ = sizeof(chunk);
    }
    publish_consumed();
    auto* reading = reinterpret_cast<chunk*>(const_cast<std::byte*>(read_base_));
    // Pairs with the thread's commit: what lies below the counter is whole.
    read_limit_ = reading->committed_bytes.load(std::memory_order_acquire);
    if (read_offset_ < read_limit_) return reinterpret_cast<const detail::record_header*>(read_base_ + read_offset_);
    const chunk_ref next = reading->next.load(std::memory_order_acquire);
    if (next == 0) return nullptr;
    // The link was set after the last commit: only now is the counter final.
    read_limit_ = reading->committed_bytes.load(std::memory_order_acquire);
    if (read_offset_ < read_limit_) continue;
    passed_bytes_ += read_offset_ - sizeof(chunk);
    finished_.push_back(reading);
    read_base_ = next == no_chunk_yet ? nullptr : home_.at(next)->begin();
    read_offset_ = read_limit_ = sizeof(chunk);
  }
}

bool thread_stream::drained() noexcept {
  if (read_offset_ < read_limit_) return false;
  return refill() == nullptr;
}

chunk* thread_stream::release_chunk() noexcept {
  if (read_base_ == nullptr) return nullptr;
  auto* last = reinterpret_cast<chunk*>(const_cast<std::byte*>(read_base_));
  publish_consumed();
  passed_bytes_ += read_offset_ - sizeof(chunk);
  read_base_ = nullptr;
  read_offset_ = read_limit_ = sizeof(chunk);
  if (last->kind() == chunk_kind::block) home_.block_sealed();
  return last;
}

void thread_stream::reuse(int thread_id) {
  // The former thread is gone and the reader has let go: nobody else looks.
  sealed_bytes_ = produced_bytes();
  chunk_begin = chunk_end = write = limit = text_until = nullptr;
  frame = nullptr;
  begun_ = false;
  closed_.store(false, std::memory_order_relaxed);
  parked.store(1, std::memory_order_relaxed);
  thread_id_ = thread_id;
  ++generation_;
}

level_counts thread_stream::accepted_counts() const noexcept {
  level_counts counts;
  for (std::size_t i = 0; i < level_count; ++i) counts.at[i] = accepted[i].load(std::memory_order_relaxed);
  return counts;
}

void thread_stream::add_dropped(std::array<level_counts, drop_reason_count>& sum) const noexcept {
  for (std::size_t reason = 0; reason < drop_reason_count; ++reason)
    for (std::size_t i = 0; i < level_count; ++i) sum[reason].at[i] += dropped_[reason][i].load(std::memory_order_relaxed);
}

}  // namespace penstock::transport
