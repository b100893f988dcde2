// SPDX-License-Identifier: MIT
// Puts the records of all threads in time order. Holds the streams that have something; forgets ("parks") those that have been empty for a
// while, so that a thread that does not log costs nothing; brings chunks back when the batches that took their records are done.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "lib/transport/exchange.hpp"
#include "lib/transport/registry.hpp"
#include "lib/transport/thread_stream.hpp"

namespace penstock::backend {

class merge {
 public:
  merge(transport::exchange& memory, transport::registry& streams);

  /// Takes in the streams that were announced since the last call.
  void adopt();

  /// Gives records not after `horizon_ticks` to `take`, earliest first; those of one thread in its order, equal times by stream. Ends at
  /// the horizon, after about `bytes_max`, or when `take` returns false: that record stays.
  ///
  /// A record from after `latest()`, which is now or later, was logged before the clock was set back: it does not wait until then.
  ///
  /// \param take bool(transport::thread_stream&, const detail::record_header&)
  /// \return bytes of the records taken
  template <class Take, class Latest>
  std::size_t drain(std::uint64_t horizon_ticks, std::size_t bytes_max, Take take, Latest latest);
  template <class Take>
  std::size_t drain(std::uint64_t horizon_ticks, std::size_t bytes_max, Take take) {
    return drain(horizon_ticks, bytes_max, take, [] { return ~std::uint64_t{0}; });
  }

  /// After a drain(): whether the horizon was reached.
  bool reached_horizon() const noexcept { return reached_horizon_; }
  /// After a drain(): whether a record is there that is younger than the horizon.
  bool anything_younger() const noexcept { return anything_younger_; }

  /// Gives back the chunks that were finished before `oldest_open_epoch`, and notes `epoch` for those finished since.
  void recycle(std::uint64_t epoch, std::uint64_t oldest_open_epoch) noexcept;

  /// Lets go of closed streams, and parks those that have been empty for `empty_ns`. Does nothing for those where membarrier is refused.
  void park_idle(std::int64_t now_ns, std::int64_t empty_ns);
  bool any_active() const noexcept { return !active_.empty(); }

  /// Before the last drain of a run: parks every stream, empty or not. What was committed before is seen by that drain; of what is
  /// committed later the threads tell. No adopt() until release_all() or unpark_all().
  void park_all();
  /// Lets go of all streams: what they hold now was announced, or is about to be.
  void release_all();
  /// Takes park_all() back.
  void unpark_all();
  /// Whether no record is on its way: none is there to be read, and the batches that took any are done.
  bool nothing_on_its_way() noexcept {
    return first_waiting_ == waiting_.size() &&
           std::all_of(active_.begin(), active_.end(), [](const active_stream& each) { return each.stream->drained(); });
  }

 private:
  struct lane {
    std::uint64_t ticks;
    std::uint32_t order;
    transport::thread_stream* stream;
    const detail::record_header* record;
  };
  struct active_stream {
    transport::thread_stream* stream;
    std::int64_t empty_since_ns;  // 0: not known to be empty.
  };
  struct finished_chunk {
    transport::chunk* chunk;
    std::uint64_t epoch;
  };

  // The lane that comes later sinks in the heap.
  static bool later(const lane& a, const lane& b) noexcept { return a.ticks != b.ticks ? a.ticks > b.ticks : a.order > b.order; }
  void collect(active_stream& from);
  void release(transport::thread_stream& closed);
  void forget_gone();

  transport::exchange& memory_;
  transport::registry& streams_;
  std::vector<active_stream> active_;
  std::vector<lane> heap_;
  std::vector<finished_chunk> waiting_;  // Oldest first, from first_waiting_ on.
  std::size_t first_waiting_ = 0;
  std::uint64_t epoch_ = 0;
  bool reached_horizon_ = true;
  bool anything_younger_ = false;
};

template <class Take, class Latest>
std::size_t merge::drain(std::uint64_t horizon_ticks, std::size_t bytes_max, Take take, Latest latest) {
  const auto due = [&](lane& next) {
    if (next.ticks <= horizon_ticks) return true;
    if (next.ticks <= latest()) {
      anything_younger_ = true;
      return false;
    }
    next.ticks = horizon_ticks;
    return true;
  };
  heap_.clear();
  reached_horizon_ = true;
  anything_younger_ = false;
  for (std::size_t i = 0; i < active_.size(); ++i) {
    transport::thread_stream* stream = active_[i].stream;
    const detail::record_header* record = stream->peek();
    if (record == nullptr) continue;
    active_[i].empty_since_ns = 0;
    lane head{record->time_ticks, stream->index(), stream, record};
    if (due(head)) heap_.push_back(head);
  }
  std::make_heap(heap_.begin(), heap_.end(), later);
  std::size_t bytes = 0;
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    lane first = heap_.back();
    heap_.pop_back();
    // While this stream is the earliest there is nothing to compare but its own times.
    const lane bound = heap_.empty() ? lane{horizon_ticks, ~std::uint32_t{0}, nullptr, nullptr} : heap_.front();
    do {
      if (bytes >= bytes_max || !take(*first.stream, *first.record)) {
        reached_horizon_ = false;
        return bytes;
      }
      bytes += first.record->record_bytes();
      first.stream->pop(first.record);
      first.record = first.stream->peek();
      if (first.record == nullptr) break;
      first.ticks = first.record->time_ticks;
    } while (!later(first, bound));
    if (first.record == nullptr || !due(first)) continue;
    heap_.push_back(first);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  return bytes;
}

}  // namespace penstock::backend
