// SPDX-License-Identifier: MIT
#include "lib/backend/worker.hpp"

#include <sched.h>

#include <algorithm>
#include <limits>

#include "lib/backend/request.hpp"
#include "lib/os/futex.hpp"
#include "lib/os/thread.hpp"

namespace penstock::backend {

namespace {

constexpr std::size_t turn_bytes_max = std::size_t{1} << 20;  // ~20,000 records, ~1 ms: then deadlines and requests are looked at.
constexpr int spinning_turns = 16;                            // Empty turns, ~4 us apart, before the first nap.
constexpr int pauses_per_spin = 100;
constexpr std::int64_t first_nap_ns = 50'000;
constexpr std::int64_t waiting_nap_ns = 1'000'000;  // While a thread waits for memory.
constexpr std::int64_t park_after_ns = 50'000'000;  // A stream that was empty for so long is forgotten; far longer than a burst's pauses.
constexpr std::int64_t clock_slack_ns = 1'000'000;  // By which two clocks may be apart over reorder_window.
constexpr std::int64_t never_ns = std::numeric_limits<std::int64_t>::max();

}  // namespace

worker::worker(transport::exchange& memory, transport::registry& streams, route_table& routes)
    : memory_(memory), streams_(streams), routes_(routes), merge_(memory, streams) {}

void worker::configure(const backend_config& settings, std::vector<std::unique_ptr<output>> outputs, report_function report) {
  settings_ = settings;
  clock_ = time_map::measure(settings.clock);
  window_ticks_ = clock_.ticks_of_ns(settings.reorder_window.count());
  outputs_ = std::move(outputs);
  all_outputs_.clear();
  for (const auto& each : outputs_) {
    all_outputs_.push_back(each.get());
    limit_texts(*each);
  }
  pending_.clear();
  report_ = std::move(report);
  nap_ns_max_ = 10'000'000;
  for (const auto& each : outputs_) {
    nap_ns_max_ = std::min(nap_ns_max_, each->settings().flush_interval_ns / 2);
    // Threads wake the backend for errors only: a lower flush level is looked for.
    if (each->settings().flush_level < level::error) nap_ns_max_ = std::min<std::int64_t>(nap_ns_max_, 500'000);
  }
  nap_ns_max_ = std::max(nap_ns_max_, first_nap_ns);
  last_ticks_ = 0;
  last_time_ = 0;
  ++era_;
  stop_deadline_ns_ = 0;
  idle_turns_ = 0;
  younger_since_ = {};
  const std::lock_guard lock(requests_mutex_);
  accepting_ = true;
  lost_told_ = 0;
}

bool worker::take(transport::thread_stream& stream, const detail::record_header& record) noexcept {
  // Looked up anew: a logger's route may be younger than this turn.
  const route& way = routes_.current()[record.logger_index()];
  const wall_ns time = clock_.at(record.time_ticks);
  if (way.outputs.size() == 1) [[likely]] {
    output& only = *way.outputs.front();
    if (!only.ready(time)) return false;
    only.put(line_of(stream, record, way, time));
  } else if (!take_for_several(stream, record, way, time)) {
    return false;
  }
  ++taken_[record.site->level];
  return true;
}

bool worker::take_for_several(transport::thread_stream& stream, const detail::record_header& record, const route& way,
                              wall_ns time) noexcept {
  // Where records may be dropped, a sink that stands still loses its own, and the others go on.
  const bool may_lose = settings_.overflow == overflow_policy::drop && record.site->level < settings_.keep_level;
  for (output* each : way.outputs)
    if (!may_lose && !each->ready(time)) return false;
  const line_source line = line_of(stream, record, way, time);
  for (output* each : way.outputs) {
    if (!may_lose || each->ready_at_once(time)) {
      each->put(line);
    } else {
      each->lose(record.site->level);
    }
  }
  return true;
}

// The record as it will stand in the log, where times do not fall.
inline line_source worker::line_of(transport::thread_stream& stream, const detail::record_header& record, const route& way,
                                   wall_ns time) noexcept {
  wall_ns line_time = time;
  if (record.time_ticks >= last_ticks_) {
    last_ticks_ = record.time_ticks;
    // The map may have been corrected by some nanoseconds since the last line.
    line_time = last_time_ = std::max(last_time_, line_time);
  } else {
    ++late_;
  }
  // A late record is not before the last of its own thread, even if the map was corrected in between.
  if (stream.line_era == era_ && clock_.source() == clock_source::tsc) line_time = std::max(line_time, stream.line_ns);
  stream.line_era = era_;
  stream.line_ns = line_time;
  // All members here: clearing them first would cost more than a third of this function.
  return {.site = record.site,
          .body = record_view(record),
          .time = line_time,
          .number = ++line_number_,
          .stream = stream.id(),
          .logger = way.logger,
          .logger_index = record.logger_index(),
          .thread_id = stream.thread_id(),
          .is_text = record.is_text(),
          .is_printable = record.is_printable()};
}

void worker::begin_turn(const moment& now) noexcept {
  ++epoch_;
  if (now.ticks < last_ticks_) {  // The clock was set back: what comes now is not late.
    last_ticks_ = 0;
    last_time_ = std::numeric_limits<wall_ns>::min();
    ++era_;
  }
  if (now.ticks >= clock_.next_resync_ticks()) {
    const time_map::reading both = clock_.read_both();
    const std::int64_t stepped = clock_.resync(both.ticks, both.system);
    if (stepped != 0) {
      last_time_ = std::numeric_limits<wall_ns>::min();
      ++era_;
      note(level::warning,
           "penstock: the system clock was set " + std::to_string(stepped / 1'000'000) + " ms " + (stepped > 0 ? "forward" : "back"));
    }
  }
  const wall_ns wall_now = clock_.at(now.ticks);
  for (const auto& each : outputs_) each->begin_epoch(epoch_, now.steady_ns, wall_now);
}

bool worker::turn(const moment& now, bool whole) {
  merge_.adopt();
  // A system clock that stands still would hold records back for ever: the window passes by the other clock then.
  const bool moved = now.ticks - younger_since_.ticks > window_ticks_;
  const bool stands_still = younger_since_.steady_ns != 0 && !moved &&
                            now.steady_ns - younger_since_.steady_ns > settings_.reorder_window.count() + clock_slack_ns;
  const bool did = run_turn(now, whole || stands_still ? now.ticks : now.ticks - std::min(now.ticks, window_ticks_));
  if (did || !merge_.anything_younger()) {
    younger_since_ = {};
  } else if (moved || younger_since_.steady_ns == 0) {
    younger_since_ = now;
  }
  return did;
}

bool worker::run_turn(const moment& now, std::uint64_t horizon_ticks) {
  begin_turn(now);
  const std::size_t bytes = merge_.drain(
      horizon_ticks, turn_bytes_max,
      [this](transport::thread_stream& stream, const detail::record_header& record) { return take(stream, record); },
      [this] { return clock_.ticks_now(); });
  // Whoever waits for memory waits for batches too: there is nothing more to fill them with.
  const bool starved = bytes == 0 && memory_.anyone_waiting();
  for (const auto& each : outputs_) {
    if (each->urgent() || starved) each->submit();
    each->upkeep(now.steady_ns);
  }
  end_turn(now);
  if (starved) memory_.wake_all_waiting();
  relieve(starved && merge_.nothing_on_its_way());
  return bytes != 0;
}

// Idle threads keep the chunk that they will go on with; if these are the whole budget, whoever waits would wait for ever.
void worker::relieve(bool starved) noexcept {
  if (!starved) {
    starved_turns_ = 0;
    if (!memory_.anyone_waiting()) memory_.take_back_loan();
  } else if (++starved_turns_ >= 3) {  // Not a waiter that is about to find what has just been given.
    starved_turns_ = 0;
    memory_.lend_beyond_budget();
  }
}

void worker::end_turn(const moment& now) noexcept {
  std::uint64_t oldest = ~std::uint64_t{0};
  for (const auto& each : outputs_) oldest = std::min(oldest, each->oldest_open_epoch());
  merge_.recycle(epoch_, oldest);
  spread_news(now);
  report_drops(now, false);
  for (std::size_t i = 0; i < level_count; ++i) published_taken_[i].store(taken_.at[i], std::memory_order_release);
  published_late_.store(late_, std::memory_order_relaxed);
  for (const auto& each : outputs_) each->publish();
}

void worker::run() {
  if (settings_.cpu >= 0 && !os::pin_to_cpu(settings_.cpu))
    report_(
        {.sink = {}, .message = "backend.cpu: the kernel refuses to pin the backend thread; it runs unpinned", .code = errc::unsupported});
  for (;;) {
    const moment at = now();
    const bool did = turn(at);
    if ((anything_asked_.load(std::memory_order_acquire) || !pending_.empty()) && serve(at)) return;
    if (did) {
      idle_turns_ = 0;
      continue;
    }
    nap(at);
  }
}

// How long nothing needs to be done, if nobody wakes the backend.
std::int64_t worker::nap_limit_ns(const moment& at) const noexcept {
  std::int64_t due_ns = never_ns;
  for (const auto& each : outputs_) due_ns = std::min(due_ns, each->next_due_ns());
  if (drops_unreported_.load(std::memory_order_seq_cst)) due_ns = std::min(due_ns, next_drop_report_ns_);
  if (memory_.anyone_waiting()) due_ns = std::min(due_ns, at.steady_ns + waiting_nap_ns);
  std::int64_t limit = due_ns == never_ns ? never_ns : std::max<std::int64_t>(due_ns - at.steady_ns, 1'000);
  if (merge_.any_active() || !pending_.empty()) {
    const int naps = std::clamp(idle_turns_ - spinning_turns, 0, 12);
    limit = std::min(limit, std::min(first_nap_ns << (naps / 4), nap_ns_max_));
  }
  return limit;
}

void worker::nap(const moment& at) {
  ++idle_turns_;
  if ((merge_.any_active() || !pending_.empty()) && (idle_turns_ <= spinning_turns || settings_.idle != idle_policy::sleep)) {
    if (settings_.idle == idle_policy::yield) ::sched_yield();
    for (int i = 0; i < pauses_per_spin; ++i) os::cpu_relax();
    if ((idle_turns_ & 1023) == 0) merge_.park_idle(at.steady_ns, park_after_ns);
    return;
  }
  merge_.park_idle(at.steady_ns, park_after_ns);
  const std::int64_t limit_ns = nap_limit_ns(at);
  asleep_.store(1, std::memory_order_seq_cst);
  // Pairs with wake(): who announces or asks either sees `asleep_`, or is seen here.
  const bool called = memory_.anything_announced() || anything_asked_.load(std::memory_order_seq_cst);
  if (!called) os::futex_wait(asleep_, 1, std::chrono::nanoseconds(limit_ns));
  if (asleep_.exchange(0, std::memory_order_seq_cst) == 0) idle_turns_ = 0;  // Woken: there is work.
}

void worker::wake_sleeper() noexcept {
  if (asleep_.exchange(0, std::memory_order_seq_cst) != 0) os::futex_wake(asleep_, 1);
}

void worker::add_stats(front_stats& front) const noexcept {
  for (std::size_t i = 0; i < level_count; ++i) front.taken.at[i] += published_taken_[i].load(std::memory_order_acquire);
  front.late += published_late_.load(std::memory_order_relaxed);
  front.cut_short += cut_short_.count();
}

}  // namespace penstock::backend
