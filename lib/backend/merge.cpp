// SPDX-License-Identifier: MIT
#include "lib/backend/merge.hpp"

#include <time.h>

#include "lib/os/futex.hpp"
#include "lib/os/thread.hpp"

namespace penstock::backend {

merge::merge(transport::exchange& memory, transport::registry& streams) : memory_(memory), streams_(streams) {
  active_.reserve(256);
  heap_.reserve(256);
  waiting_.reserve(4096);
}

void merge::adopt() {
  while (memory_.anything_announced()) {
    transport::thread_stream* stream = memory_.adopt();
    if (stream == nullptr) return;  // Counted, not yet in the queue: next turn.
    if (stream->active) continue;
    stream->active = true;
    active_.push_back({stream, 0});
  }
}

void merge::collect(active_stream& from) {
  for (transport::chunk* done : from.stream->finished()) waiting_.push_back({done, epoch_});
  from.stream->finished().clear();
}

void merge::recycle(std::uint64_t epoch, std::uint64_t oldest_open_epoch) noexcept {
  epoch_ = epoch;
  for (active_stream& stream : active_) collect(stream);
  bool given = false;
  for (; first_waiting_ < waiting_.size() && waiting_[first_waiting_].epoch < oldest_open_epoch; ++first_waiting_) {
    memory_.give(waiting_[first_waiting_].chunk);
    given = true;
  }
  if (first_waiting_ == waiting_.size()) {
    waiting_.clear();
    first_waiting_ = 0;
  } else if (first_waiting_ > waiting_.size() / 2) {
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(first_waiting_));
    first_waiting_ = 0;
  }
  if (given) memory_.wake_waiting();
}

void merge::release(transport::thread_stream& closed) {
  for (transport::chunk* done : closed.finished()) waiting_.push_back({done, epoch_});
  closed.finished().clear();
  if (transport::chunk* last = closed.release_chunk()) waiting_.push_back({last, epoch_});
  closed.active = false;
  streams_.give_back(&closed);
}

void merge::park_idle(std::int64_t now_ns, std::int64_t empty_ns) {
  const bool can_park = os::membarrier_available();
  bool any = false;
  for (active_stream& candidate : active_) {
    // Closed first: what was committed before the thread ended is visible then.
    const bool closed = candidate.stream->closed();
    if (!candidate.stream->drained()) {
      candidate.empty_since_ns = 0;
      continue;
    }
    if (closed) {
      release(*candidate.stream);
      candidate.stream = nullptr;
      continue;
    }
    if (candidate.empty_since_ns == 0) candidate.empty_since_ns = now_ns;
    if (!can_park || now_ns - candidate.empty_since_ns < empty_ns) continue;
    candidate.stream->parked.store(1, std::memory_order_relaxed);
    any = true;
  }
  if (any) {
    // The thread commits, then looks at the flag. After this barrier either it sees the flag, or its commit is seen below.
    os::membarrier_all();
    for (active_stream& candidate : active_) {
      if (candidate.stream == nullptr || candidate.stream->parked.load(std::memory_order_relaxed) == 0) continue;
      if (!candidate.stream->drained() || candidate.stream->closed()) {
        // Ours again, unless the thread was quicker: then its announcement is on its way.
        const bool still_ours = candidate.stream->parked.exchange(0, std::memory_order_seq_cst) != 0;
        candidate.empty_since_ns = 0;
        if (still_ours) continue;
      }
      collect(candidate);
      candidate.stream->active = false;
      candidate.stream = nullptr;
    }
  }
  forget_gone();
}

void merge::forget_gone() {
  std::erase_if(active_, [](const active_stream& gone) { return gone.stream == nullptr; });
}

void merge::park_all() {
  const int own = os::thread_id();
  bool others = false;
  for (active_stream& each : active_) {
    each.stream->parked.store(1, std::memory_order_relaxed);
    others = others || each.stream->thread_id() != own;
  }
  if (!others) return;  // A thread sees its own stores in order.
  if (os::membarrier_available()) {
    os::membarrier_all();
  } else {
    // A store buffer is empty after microseconds, and a switch of threads is a barrier too.
    const timespec pause{.tv_sec = 0, .tv_nsec = 5'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

void merge::release_all() {
  for (active_stream& each : active_) {
    collect(each);
    if (each.stream->closed() && each.stream->parked.exchange(0, std::memory_order_seq_cst) != 0) {
      // Ours for good: its thread has ended, or finds nothing to tell.
      if (!each.stream->drained()) continue;
      release(*each.stream);
    } else {
      each.stream->active = false;
    }
    each.stream = nullptr;
  }
  forget_gone();
}

void merge::unpark_all() {
  for (active_stream& each : active_) {
    if (each.stream->parked.exchange(0, std::memory_order_seq_cst) != 0) continue;
    // Its announcement is on its way.
    collect(each);
    each.stream->active = false;
    each.stream = nullptr;
  }
  forget_gone();
}

}  // namespace penstock::backend
