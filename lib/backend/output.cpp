// SPDX-License-Identifier: MIT
#include "lib/backend/output.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <system_error>
#include <utility>

namespace penstock::backend {
namespace {
constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t retry_ns_max = 500'000'000;      // A disk that is free again is noticed within a second.
constexpr std::int64_t pending_sync_ns = 1'000'000;     // As for a flush: look again in 1 ms.
constexpr int io_attempts_max = 10;                     // ~2.5 s of growing waits; a device that refuses longer than that is gone.
constexpr std::int64_t maintenance_ns = 1'000'000'000;  // Two stat calls a second at most: cheap, and soon enough for logrotate.

}  // namespace

output::output(std::unique_ptr<sink> destination, std::shared_ptr<line_layout> layout, output_settings settings)
    : sink_(std::move(destination)), layout_(std::move(layout)), settings_(std::move(settings)) {
  describe();
  publish();
}

bool output::find_room(std::size_t line_bytes) noexcept {
  // No room, or none for this line: what is there goes first.
  hand_over();
  room_begin_ = pos_ = end_ = nullptr;
  for (;;) {
    if (disabled_) return true;  // Lines are counted as lost.
    if (in_trouble()) return false;
    const lend_request request{.line_bytes = std::max(line_bytes, carry_.size()),
                               .line_time = std::chrono::system_clock::time_point(std::chrono::nanoseconds(line_time_))};
    batch lent = sink_->lend(request);
    if (lent.room.empty()) {
      // Asking may have brought something back: only then is there really nothing.
      const outcome state = sink_->flush();
      if (!state.ok() && state.code != errc::pending) handle(state);
      settle();
      if (disabled_ || in_trouble()) return disabled_;
      lent = sink_->lend(request);
      if (lent.room.empty()) {
        full_epoch_ = epoch_;  // Once a turn is enough: a sink's flush() may wait a moment.
        return false;
      }
    }
    if (std::exchange(starved_, false)) news_.recovered = true;
    room_begin_ = pos_ = reinterpret_cast<char*>(lent.room.data());
    end_ = pos_ + lent.room.size();
    large_room_ = lent.room.size() > text_bytes_max(record_bytes_max_, true);
    cut_ = lent.end;
    until_ = std::chrono::time_point_cast<std::chrono::nanoseconds>(lent.until).time_since_epoch().count();
    if (carry_.empty()) return true;
    const std::size_t fits = std::min(carry_.size(), lent.room.size());
    std::memcpy(pos_, carry_.data(), fits);
    pos_ += fits;
    carry_.erase(0, fits);
    if (pos_ < end_) return true;
    hand_over();
  }
}

void output::hand_over() noexcept {
  const auto used = static_cast<std::size_t>(pos_ - room_begin_);
  if (used == 0) return;
  const std::int64_t before = steady_now();
  room_offset_ += used;
  room_begin_ = pos_ = end_ = nullptr;
  due_ns_ = 0;
  urgent_ = false;
  ++batches_;
  const outcome result = sink_->submit(used);
  const auto took_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(steady_now() - before, 0));
  ++latency_.below_power_of_two[std::min<std::size_t>(std::bit_width(took_ns), 39)];
  latency_.sum_ns += took_ns;
  handle(result);
  settle();
  if (!result.ok()) return;
  unsynced_ = true;
  if (settings_.sync.each_batch) static_cast<void>(sync_after(flush_submitted()));
}

void output::submit() noexcept { hand_over(); }

void output::handle(outcome result) noexcept {
  if (result.ok()) {
    // The attempts are forgotten by settle(), once something is written: an answer that takes its time may still be an error.
    if (in_trouble()) news_.recovered = true;
    trouble_ = {};
    return;
  }
  if (result.code == errc::pending) {  // An attempt that is still under way is no other one.
    retry_ns_ = now_ns_ + retry_wait_ns();
    return;
  }
  trouble_ = last_trouble_ = result;
  news_.trouble = result;
  ++errors_;
  ++attempts_;
  io_attempts_ = result.code == errc::no_space ? 0 : io_attempts_ + 1;
  retry_ns_ = now_ns_ + retry_wait_ns();
  if (result.code == errc::closed || io_attempts_ >= io_attempts_max) give_up(true);
}

std::int64_t output::retry_wait_ns() const noexcept {
  return std::min<std::int64_t>(std::int64_t{1'000'000} << std::min(attempts_, 20), retry_ns_max);
}

void output::settle() noexcept {
  if (in_trouble()) return;
  const std::uint64_t done = room_offset_ - sink_->in_flight_bytes();
  const std::uint64_t written_bytes = done - given_up_bytes_;
  if (written_bytes > bytes_) attempts_ = io_attempts_ = 0;
  bytes_ = written_bytes;
  marks_.take_until(done, written_);
  close_epochs(done);
}

void output::close_epochs(std::uint64_t done_bytes) noexcept {
  while (first_open_ < open_.size() && open_[first_open_].end_bytes <= done_bytes) ++first_open_;
  if (first_open_ == open_.size()) {
    open_.clear();
    first_open_ = 0;
    if (latest_open_.end_bytes <= done_bytes) latest_open_ = none_open;
  } else if (first_open_ >= 1024) {
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(first_open_));
    first_open_ = 0;
  }
}

// What the sink holds and what is in the open room is lost.
void output::give_up(bool disable) noexcept {
  const std::uint64_t unwritten = std::min<std::uint64_t>(sink_->abandon(), room_offset_);
  const std::uint64_t done = room_offset_ - unwritten;
  bytes_ = done - given_up_bytes_;
  given_up_bytes_ += unwritten;
  marks_.take_until(done, written_);
  level_counts gone;
  marks_.take_all(gone);
  close_epochs(~std::uint64_t{0});
  carry_.clear();
  room_begin_ = pos_ = end_ = nullptr;
  due_ns_ = 0;
  for (std::size_t i = 0; i < level_count; ++i) lost_.at[i] += gone.at[i];
  news_.lost += gone.total();
  news_.lost_unlogged += gone.total();
  trouble_ = {};
  attempts_ = io_attempts_ = 0;
  if (disable) {
    disabled_ = true;
    news_.disabled = true;
  } else {
    news_.recovered = true;
  }
}

void output::abandon() noexcept {
  if (disabled_) return;
  hand_over();
  if (in_trouble() || !marks_.empty()) give_up(true);
}

void output::upkeep(std::int64_t now_ns) noexcept {
  now_ns_ = now_ns;
  if (disabled_) return;
  if (in_trouble() && now_ns >= retry_ns_) {
    handle(sink_->resume());
    settle();
  }
  if (due_ns_ != 0 && now_ns >= due_ns_) hand_over();
  if (!in_trouble() && room_begin_ == pos_ && !marks_.empty()) static_cast<void>(flush());
  if (sync_wanted() && now_ns >= next_sync_ns_) {
    if (!settings_.sync.each_batch) hand_over();
    static_cast<void>(sync_after(flush_submitted()));
  }
  if (now_ns >= next_maintenance_ns_) look_after_sink();
}

// The sink looks after its file between batches. Under load a batch is always open: then it goes a little early.
void output::look_after_sink() noexcept {
  next_maintenance_ns_ = now_ns_ + maintenance_ns;
  describe();
  hand_over();
  if (in_trouble() || disabled_) return;
  const outcome found = sink_->maintain();
  if (!found.ok() && found.code != errc::pending) news_.trouble = last_trouble_ = found;
}

std::int64_t output::next_due_ns() const noexcept {
  if (disabled_) return never_ns;
  std::int64_t next = never_ns;
  if (in_trouble()) next = retry_ns_;
  if (due_ns_ != 0) next = std::min(next, due_ns_);
  if (due_ns_ == 0 && !marks_.empty() && !in_trouble()) next = std::min(next, now_ns_ + 1'000'000);  // In flight: look again in 1 ms.
  if (sync_wanted()) next = std::min(next, next_sync_ns_);
  return next;
}

outcome output::flush() noexcept {
  if (disabled_) return {};
  if (!carry_.empty()) find_room();
  hand_over();
  return flush_submitted();
}

outcome output::flush_submitted() noexcept {
  if (disabled_) return {};
  if (in_trouble()) return trouble_;
  const outcome result = sink_->flush();
  if (!result.ok() && result.code != errc::pending) handle(result);
  settle();
  return result;
}

outcome output::sync() noexcept { return sync_after(flush()); }

outcome output::sync_after(outcome flushed) noexcept {
  if (disabled_) return flushed;
  const outcome result = flushed.ok() ? sink_->sync() : flushed;
  if (result.code == errc::pending) next_sync_ns_ = now_ns_ + pending_sync_ns;
  if (!flushed.ok() || result.code == errc::pending) return result;
  unsynced_ = false;
  next_sync_ns_ = now_ns_ + settings_.sync.interval.count();
  if (result.ok() || result.code == errc::unsupported) {
    if (std::exchange(sync_failing_, false)) {
      doubtful_bytes_ = synced_bytes_;
      news_.synced_again = true;
    }
    synced_bytes_ = room_offset_;
    return result;
  }
  // What is with the kernel stays written. That it may not be on the medium, and that the kernel forgets so, is told to the error handler,
  // to the next who asks for a sync, and, when syncs work again, to whoever reads the log.
  ++errors_;
  news_.trouble = last_trouble_ = result;
  sync_error_ = result.os_error;
  sync_failing_ = sync_untold_ = true;
  return result;
}

void output::describe() noexcept {
  try {
    sink_description now = sink_->describe();
    const std::lock_guard lock(published_mutex_);
    published_.type = std::move(now.kind);
    published_.fallback = std::move(now.fallback);
    published_.note = std::move(now.note);
  } catch (...) {
    errors_ += 1;  // A sink that cannot say what it is goes on writing.
  }
}

void output::publish() noexcept {
  const std::lock_guard lock(published_mutex_);
  published_.taken = taken_;
  published_.written = written_;
  published_.lost = lost_;
  published_.held = marks_.counts();
  published_.bytes = bytes_;
  published_.batches = batches_;
  published_.errors = errors_;
  published_.disabled = disabled_;
  published_.submit_latency = latency_;
}

sink_stats output::stats() const {
  sink_stats copy;
  {
    const std::lock_guard lock(published_mutex_);
    copy = published_;
  }
  copy.name = settings_.name;
  return copy;
}

std::string output::trouble_text() const {
  std::string text = "sink " + settings_.name + ": ";
  text += last_trouble_.ok() ? "all of its batches were full" : std::generic_category().message(last_trouble_.os_error);
  if (sync_failing_ && !in_trouble() && !disabled_)
    return text + "; what was written since the last sync that worked may not be on the medium";
  if (disabled_) return text + "; the sink is disabled, " + std::to_string(lost_.total()) + " records of it are lost so far";
  return text + (in_trouble() ? "; what is not written is held and tried again" : "; it went on");
}

std::string output::synced_again_text() const {
  return "sink " + settings_.name + ": a sync failed (" + std::generic_category().message(sync_error_) + ") and works again: of the " +
         std::to_string(laid_bytes() - doubtful_bytes_) + " bytes before this line, some may not be on the medium";
}

bool output::retire() noexcept {
  room_begin_ = pos_ = end_ = nullptr;
  std::unique_ptr<sink> left = sink_->retire();
  if (left == nullptr) {
    disabled_ = true;
    return false;
  }
  sink_ = std::move(left);
  describe();
  disabled_ = false;
  trouble_ = {};
  return true;
}

}  // namespace penstock::backend
