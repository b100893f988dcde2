// SPDX-License-Identifier: MIT
// The backend: takes records in time order and lays out their lines, turn by turn. A turn never waits of its own accord and gets its time
// as a parameter; waiting is in run(). After stop() whoever logs calls turn() under the engine's lock.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <penstock/config.hpp>
#include <penstock/stats.hpp>

#include "lib/backend/merge.hpp"
#include "lib/backend/output.hpp"
#include "lib/backend/route_table.hpp"
#include "lib/backend/time_map.hpp"

namespace penstock::backend {

struct moment {
  std::uint64_t ticks = 0;
  std::int64_t steady_ns = 0;
};

/// What a caller asks of the backend and waits for.
///
/// `unload`: a flush, after which nothing points at the statements of the module that goes.
enum class request_kind : std::uint8_t { flush, sync, reopen, stop, unload };

class request;

class worker {
 public:
  using report_function = std::function<void(const error_report&)>;

  worker(transport::exchange& memory, transport::registry& streams, route_table& routes);

  /// Sets up for a run. Thread: no backend runs.
  void configure(const backend_config& settings, std::vector<std::unique_ptr<output>> outputs, report_function report);

  moment now() const noexcept { return {clock_.ticks_now(), steady_now()}; }
  const time_map& clock() const noexcept { return clock_; }

  /// Has the output cut texts as this run's threads do.
  void limit_texts(output& out) noexcept { out.limit_texts(record_bytes_max(settings_.memory), cut_short_); }

  /// One turn: takes what is not after the horizon, hands over what is full or due, brings chunks back.
  ///
  /// \param whole take everything, without waiting for slower threads (flush, stop)
  /// \return whether anything was done
  bool turn(const moment& now, bool whole = false);

  /// Turns until a stop request is served.
  void run();

  /// Asks for something and waits for it. False: not done by the deadline, or done with an error.
  ///
  /// Thread: any but the backend's.
  /// True too if the backend has ended: everything before that is written.
  bool ask(request_kind kind, std::chrono::nanoseconds timeout);
  /// Whether run() has served a stop request and ended.
  bool finished() noexcept {
    const std::lock_guard lock(requests_mutex_);
    return !accepting_;
  }

  /// Wakes the backend from a nap or from sleep; one load if it is awake.
  void wake() noexcept {
    if (asleep_.load(std::memory_order_seq_cst) != 0) [[unlikely]]
      wake_sleeper();
  }

  /// Tells that records were dropped, so that the log will say so.
  void note_drop() noexcept {
    // Pairs with the fence in report_drops(): the drop is counted there, or the flag is set again.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (drops_unreported_.load(std::memory_order_relaxed)) return;
    drops_unreported_.store(true, std::memory_order_seq_cst);
    wake();
  }

  /// Takes and writes what was committed before the call, and parks all streams: of what comes later the threads tell. Takes no longer than
  /// that, however much is logged meanwhile. False: a sink takes nothing; then nothing is parked.
  bool drain_and_park();
  /// The same for callers after stop(), when nobody would try again: what a sink does not take is counted as lost.
  void drain_for_caller();

  /// After stop(), when there are no requests: false if sinks have lost records since somebody was told so; the caller is told now.
  ///
  /// Thread: under the engine's lock.
  bool tell_losses() noexcept;

  std::vector<std::unique_ptr<output>>& outputs() noexcept { return outputs_; }
  void add_stats(front_stats& front) const noexcept;
  /// Writes a line of the library's own to the root logger's sinks.
  void note(level of_note, std::string_view text) noexcept;

 private:
  bool take(transport::thread_stream& stream, const detail::record_header& record) noexcept;
  bool take_for_several(transport::thread_stream& stream, const detail::record_header& record, const route& way, wall_ns time) noexcept;
  line_source line_of(transport::thread_stream& stream, const detail::record_header& record, const route& way, wall_ns time) noexcept;
  bool run_turn(const moment& now, std::uint64_t horizon_ticks);
  void relieve(bool starved) noexcept;
  const std::vector<output*>& note_outputs() noexcept;
  void put_note(output& to, level of_note, std::string_view text) noexcept;
  bool reopen_all() noexcept;
  void begin_turn(const moment& now) noexcept;
  void end_turn(const moment& now) noexcept;
  void report_drops(const moment& now, bool at_once) noexcept;
  void spread_news(const moment& now) noexcept;
  bool serve(const moment& now);
  void refuse_pending_after_stop(std::vector<std::shared_ptr<request>>& stops);
  bool serve_flush(request& asked, bool to_medium);
  bool serve_stop(const moment& now);
  void finish(request& asked, bool good);
  std::uint64_t lost_count() const noexcept;
  void nap(const moment& now);
  std::int64_t nap_limit_ns(const moment& now) const noexcept;
  void wake_sleeper() noexcept;
  std::string clock_text(std::uint64_t ticks) const;

  transport::exchange& memory_;
  transport::registry& streams_;
  route_table& routes_;
  merge merge_;
  time_map clock_;
  std::vector<std::unique_ptr<output>> outputs_;
  report_function report_;
  backend_config settings_{};
  std::uint64_t window_ticks_ = 0;
  std::int64_t nap_ns_max_ = 10'000'000;

  std::uint64_t epoch_ = 0;
  std::uint64_t last_ticks_ = 0;
  wall_ns last_time_ = 0;
  int idle_turns_ = 0;
  moment younger_since_{};  // Since when there is nothing but records younger than the horizon, by a clock that stands still.
  int starved_turns_ = 0;   // In a row: somebody waits for memory, and nothing is on its way.
  level_counts taken_{};
  std::uint64_t era_ = 0;
  std::uint64_t late_ = 0;
  std::uint64_t line_number_ = 0;
  cut_counter cut_short_;
  std::vector<output*> all_outputs_;
  std::vector<std::shared_ptr<request>> pending_;  // Asked for, and not done yet.
  std::atomic<std::uint64_t> published_taken_[level_count]{};
  std::atomic<std::uint64_t> published_late_{0};
  level_counts reported_drops_{};
  std::array<level_counts, drop_reason_count> reported_drops_by_reason_{};
  std::int64_t next_drop_report_ns_ = 0;
  std::int64_t next_error_report_ns_ = 0;
  std::int64_t stop_deadline_ns_ = 0;

  alignas(64) std::atomic<std::uint32_t> asleep_{0};  // Set before the last look, cleared by whoever wakes.
  std::atomic<bool> drops_unreported_{false};
  std::atomic<bool> anything_asked_{false};
  std::mutex requests_mutex_;
  bool accepting_ = false;
  std::vector<std::shared_ptr<request>> requests_;
  std::uint64_t lost_told_ = 0;  // Of the records that sinks lost: those that a flush, sync or stop has told of.
};

}  // namespace penstock::backend
