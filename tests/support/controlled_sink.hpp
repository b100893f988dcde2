// SPDX-License-Identifier: MIT
// A sink that does what a test says: keeps what it got, fails, lends nothing, or stands still until it is let go.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <penstock/sink.hpp>

namespace penstock::testing {

/// What the test and its sink share; outlives the sink.
struct sink_control {
  std::mutex mutex;
  std::condition_variable changed;
  bool stalled = false;           ///< submit() does not return
  bool lends_nothing = false;     ///< everything is in flight, so to say
  std::deque<outcome> results{};  ///< for the next submit() or resume() each
  outcome every_result{};         ///< once the script is through
  std::deque<outcome> syncs{};    ///< for the next sync() of what is written each
  bool late_results = false;      ///< as of io_uring: submit() and resume() are fine, the result comes with a flush()
  std::size_t room_bytes = 4096;
  cut end = cut::pages;
  std::size_t in_flight = 0;
  std::string written{};
  std::vector<std::size_t> batches{};
  std::size_t waiting_count = 0;  ///< submits that stand still
  std::size_t maintained_count = 0;
  std::size_t sync_count = 0;
  std::function<void()> on_submit{};

  void stall() {
    const std::lock_guard lock(mutex);
    stalled = true;
  }
  void let_go() {
    const std::lock_guard lock(mutex);
    stalled = false;
    changed.notify_all();
  }
  void await_stall() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return waiting_count != 0; });
  }
  std::string text() {
    const std::lock_guard lock(mutex);
    return written;
  }
};

class controlled_sink final : public sink {
 public:
  explicit controlled_sink(std::shared_ptr<sink_control> control) : control_(std::move(control)) {}

  batch lend(lend_request) noexcept override {
    const std::lock_guard lock(control_->mutex);
    if (control_->lends_nothing || held_bytes_ != 0) return {{}, control_->end};
    room_.resize(control_->room_bytes);
    return {std::span(room_), control_->end};
  }

  outcome submit(std::size_t used_bytes) noexcept override {
    if (control_->on_submit) control_->on_submit();
    std::unique_lock lock(control_->mutex);
    control_->batches.push_back(used_bytes);
    held_bytes_ = used_bytes;
    return begin_write(lock);
  }

  outcome resume() noexcept override {
    std::unique_lock lock(control_->mutex);
    return begin_write(lock);
  }

  std::size_t abandon() noexcept override {
    const std::lock_guard lock(control_->mutex);
    under_way_ = false;
    return std::exchange(held_bytes_, 0);
  }
  outcome flush() noexcept override {
    std::unique_lock lock(control_->mutex);
    if (std::exchange(under_way_, false)) return write(lock);
    return control_->in_flight != 0 || control_->lends_nothing ? outcome{errc::pending, 0} : outcome{};
  }
  outcome sync() noexcept override {
    if (const outcome flushed = flush(); !flushed.ok()) return flushed;
    const std::lock_guard lock(control_->mutex);
    ++control_->sync_count;
    if (control_->syncs.empty()) return {};
    const outcome result = control_->syncs.front();
    control_->syncs.pop_front();
    return result;
  }
  outcome reopen() noexcept override { return {}; }
  outcome maintain() noexcept override {
    const std::lock_guard lock(control_->mutex);
    ++control_->maintained_count;
    return {};
  }
  std::uint64_t in_flight_bytes() const noexcept override {
    const std::lock_guard lock(control_->mutex);
    return control_->in_flight + (under_way_ ? held_bytes_ : 0);
  }
  sink_description describe() const override { return {"controlled", {}, "does as it is told"}; }

 private:
  outcome begin_write(std::unique_lock<std::mutex>& lock) {
    if (!control_->late_results) return write(lock);
    under_way_ = true;
    return {};
  }
  outcome write(std::unique_lock<std::mutex>& lock) {
    ++control_->waiting_count;
    control_->changed.notify_all();
    control_->changed.wait(lock, [this] { return !control_->stalled; });
    --control_->waiting_count;
    outcome result = control_->every_result;
    if (!control_->results.empty()) {
      result = control_->results.front();
      control_->results.pop_front();
    }
    if (!result.ok()) return result;
    control_->written.append(reinterpret_cast<const char*>(room_.data()), held_bytes_);
    held_bytes_ = 0;
    return {};
  }

  std::shared_ptr<sink_control> control_;
  std::vector<std::byte> room_;
  std::size_t held_bytes_ = 0;
  bool under_way_ = false;
};

/// Gives the type name "controlled" to a sink that obeys the newest control.
inline std::shared_ptr<sink_control> register_controlled_sink() {
  static std::shared_ptr<sink_control> newest;
  const bool first = newest == nullptr;
  newest = std::make_shared<sink_control>();
  if (first) register_sink_type("controlled", [](const sink_config&) { return std::make_unique<controlled_sink>(newest); });
  return newest;
}

}  // namespace penstock::testing
