// SPDX-License-Identifier: MIT
// A call that waits for the backend: flush, sync, reopen, stop. Kept alive by whoever still needs it: the caller may give up first.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "lib/backend/worker.hpp"

namespace penstock::backend {

class request {
 public:
  request(request_kind kind, std::uint64_t lost_told) : kind_(kind), lost_told_(lost_told) {}

  request_kind kind() const noexcept { return kind_; }
  /// Lost records that an earlier request has told of: others make this one fail.
  std::uint64_t lost_told() const noexcept { return lost_told_; }

  /// The time up to which it counts, in ticks: when the backend first saw it. Thread: the backend.
  std::uint64_t horizon_ticks = 0;

  /// False: whoever asked does not wait any more, and is not told.
  bool finish(bool result) {
    const std::lock_guard lock(mutex_);
    done_ = true;
    result_ = result;
    changed_.notify_all();
    return !left_;
  }

  /// False: not done by then, or done with an error.
  bool wait(std::chrono::nanoseconds timeout) {
    std::unique_lock lock(mutex_);
    const auto done = [this] { return done_; };
    if (timeout == std::chrono::nanoseconds::max()) {
      changed_.wait(lock, done);
    } else if (!changed_.wait_for(lock, std::min(timeout, std::chrono::nanoseconds(std::chrono::hours(24 * 365))), done)) {
      left_ = true;
      return false;
    }
    return result_;
  }

 private:
  request_kind kind_;
  std::uint64_t lost_told_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  bool result_ = false;
  bool left_ = false;
};

}  // namespace penstock::backend
