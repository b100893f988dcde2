// SPDX-License-Identifier: MIT
// All streams that ever were: those in use, and those whose thread has ended, ready for another. Counts of a stream go on over its threads.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "lib/transport/thread_stream.hpp"

namespace penstock::transport {

class registry {
 public:
  explicit registry(exchange& home) : home_(home) {}

  /// A stream for the calling thread.
  ///
  /// Errors: std::bad_alloc.
  thread_stream* open(int thread_id);

  /// Takes back a stream that is closed, drained and out of the reader's list.
  ///
  /// Thread: the reader.
  void give_back(thread_stream* done) noexcept;

  /// Calls `visit` for every stream, in use or not.
  ///
  /// Thread: any; the streams' atomic members only.
  template <class Visit>
  void for_each(Visit visit) const {
    const std::lock_guard lock(mutex_);
    for (const thread_stream& stream : streams_) visit(stream);
  }
  template <class Visit>
  void for_each(Visit visit) {
    const std::lock_guard lock(mutex_);
    for (thread_stream& stream : streams_) visit(stream);
  }

  std::size_t in_use_count() const noexcept {
    const std::lock_guard lock(mutex_);
    return streams_.size() - spare_.size();
  }

  std::mutex& mutex() noexcept { return mutex_; }  // For fork.

 private:
  exchange& home_;
  mutable std::mutex mutex_;
  std::deque<thread_stream> streams_;  // Never moves its elements.
  std::vector<thread_stream*> spare_;
};

}  // namespace penstock::transport
