// SPDX-License-Identifier: MIT
// What others ask of the backend, and what it says of itself in the log.
#include <time.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include <penstock/detail/stream_front.hpp>

#include "lib/backend/request.hpp"
#include "lib/backend/worker.hpp"
#include "lib/os/futex.hpp"
#include "lib/os/thread.hpp"

namespace penstock::backend {

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t stop_patience_ns = 3 * second_ns;  // For a sink in trouble while the program wants to end.

constexpr detail::call_site own_site(level of_note) noexcept { return {.source = {"{}", "penstock", "penstock", 0}, .level = of_note}; }
constexpr std::array<detail::call_site, level_count> own_sites{own_site(level::trace),   own_site(level::debug), own_site(level::info),
                                                               own_site(level::warning), own_site(level::error), own_site(level::critical)};

std::string by_level(const level_counts& counts) {
  std::string text;
  for (std::size_t i = 0; i < level_count; ++i) {
    if (counts.at[i] == 0) continue;
    if (!text.empty()) text += ", ";
    text += name_of(static_cast<level>(i));
    text += ' ';
    text += std::to_string(counts.at[i]);
  }
  return text;
}

// Whether a formatter or a sink has logged on this thread, which drains.
bool own_stream_has_something() noexcept {
  const detail::stream_front& own = *detail::current_stream;
  return own.chunk_begin != nullptr && own.parked.load(std::memory_order_relaxed) == 0;
}

}  // namespace

bool worker::ask(request_kind kind, std::chrono::nanoseconds timeout) {
  std::shared_ptr<request> asked;
  {
    // While it accepts, a run's outputs are what they are.
    const std::lock_guard lock(requests_mutex_);
    if (!accepting_) return true;
    try {
      asked = std::make_shared<request>(kind, lost_told_);
      requests_.push_back(asked);
    } catch (const std::bad_alloc&) {
      return false;
    }
    anything_asked_.store(true, std::memory_order_seq_cst);
  }
  wake();
  return asked->wait(timeout);
}

std::uint64_t worker::lost_count() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& each : outputs_) sum += each->lost_count();
  return sum;
}

bool worker::tell_losses() noexcept {
  const std::lock_guard lock(requests_mutex_);
  const std::uint64_t lost = lost_count();
  return std::exchange(lost_told_, lost) == lost;
}

// Called under the mutex of requests. A record that was lost before the call was logged before it too: whoever asks first is told.
void worker::finish(request& asked, bool good) {
  const std::uint64_t lost = lost_count();
  if (asked.finish(good && lost == asked.lost_told()) && asked.kind() != request_kind::unload) lost_told_ = lost;
}

// Serves what was asked; true: it was to stop, and that is done.
bool worker::serve(const moment& at) {
  {
    const std::lock_guard lock(requests_mutex_);
    const std::uint64_t horizon_ticks = now().ticks;  // Not `at`: something may have been logged and asked for since.
    for (std::shared_ptr<request>& each : requests_) {
      each->horizon_ticks = horizon_ticks;
      pending_.push_back(std::move(each));
    }
    requests_.clear();
    anything_asked_.store(false, std::memory_order_release);
  }
  bool stopped = false;
  std::vector<std::shared_ptr<request>> again;
  std::vector<std::shared_ptr<request>> stops;
  for (const auto& each : pending_) {
    bool finished = false;
    switch (each->kind()) {
      case request_kind::flush:
        finished = serve_flush(*each, false);
        break;
      case request_kind::sync:
        finished = serve_flush(*each, true);
        break;
      case request_kind::unload:
        finished = serve_flush(*each, false);
        if (finished)
          for (const auto& out : outputs_) out->forget_statements();
        break;
      case request_kind::reopen:
        each->finish(reopen_all());
        finished = true;
        break;
      case request_kind::stop:
        finished = stopped = stopped || serve_stop(at);
        if (finished) stops.push_back(each);
        break;
    }
    if (!finished) again.push_back(each);
  }
  pending_.swap(again);
  if (stopped) refuse_pending_after_stop(stops);
  return stopped;
}

// Everything is written or counted as lost: whoever asks for anything has it.
void worker::refuse_pending_after_stop(std::vector<std::shared_ptr<request>>& stops) {
  const std::lock_guard lock(requests_mutex_);
  accepting_ = false;
  stops.insert(stops.end(), pending_.begin(), pending_.end());
  stops.insert(stops.end(), requests_.begin(), requests_.end());
  requests_.clear();
  pending_.clear();
  for (const auto& each : stops) finish(*each, true);
}

// Takes all that was committed before now and brings it to the kernel. False: ask again.
bool worker::serve_flush(request& asked, bool to_medium) {
  moment at = now();
  for (;; at = now()) {
    merge_.adopt();
    const bool did = run_turn(at, asked.horizon_ticks);
    if (merge_.reached_horizon()) break;
    if (!did) return false;  // A sink takes nothing now.
  }
  report_drops(at, true);
  bool good = true;
  bool pending = false;
  for (const auto& each : outputs_) {
    const outcome result = to_medium ? each->sync() : each->flush();
    pending = pending || result.code == errc::pending || each->in_trouble();
    good = good && (result.ok() || result.code == errc::pending || (to_medium && result.code == errc::unsupported));
  }
  end_turn(now());
  if (pending) return false;
  // At the end, since a sync that failed while another sink's was pending does not fail again. So may one have that nobody waited for.
  if (to_medium)
    for (const auto& each : outputs_) good = !each->take_sync_failure() && good;
  const std::lock_guard lock(requests_mutex_);
  finish(asked, good);
  return true;
}

bool worker::reopen_all() noexcept {
  bool good = true;
  for (const auto& each : outputs_) {
    const outcome flushed = each->flush();
    good = flushed.ok() && each->reopen().ok() && good;
  }
  return good;
}

bool worker::drain_and_park() {
  // More than once for what formatters and sinks log meanwhile, and for threads that end just then; but not for ever.
  for (int pass = 0; pass < 4; ++pass) {
    merge_.adopt();
    merge_.park_all();
    const moment last = now();
    do {
      if (run_turn(last, last.ticks) || merge_.reached_horizon()) continue;
      merge_.unpark_all();
      return false;
    } while (!merge_.reached_horizon());
    merge_.release_all();
    if (!own_stream_has_something() && !merge_.any_active()) break;
  }
  for (const auto& each : outputs_) static_cast<void>(each->flush());
  end_turn(now());
  return true;
}

void worker::drain_for_caller() {
  for (int attempt = 0; attempt < 10; ++attempt) {
    const bool drained = drain_and_park();
    for (const auto& each : outputs_) each->lose_held();
    if (drained && !own_stream_has_something() && !merge_.any_active()) break;
  }
  end_turn(now());
}

// One attempt at ending. A sink in trouble is waited for a few seconds, then what it holds is counted as lost.
bool worker::serve_stop(const moment& at) {
  if (stop_deadline_ns_ == 0) stop_deadline_ns_ = at.steady_ns + stop_patience_ns;
  bool held = !drain_and_park();
  for (const auto& each : outputs_) {
    const outcome result = each->flush();
    held = held || each->in_trouble() || result.code == errc::pending;
    if (each->holds_anything() && !each->in_trouble() && result.code == errc::pending) stop_deadline_ns_ = at.steady_ns + stop_patience_ns;
  }
  if (held && at.steady_ns < stop_deadline_ns_) return false;
  for (const auto& each : outputs_) {
    if (each->in_trouble()) each->abandon();
  }
  // Sinks that were given up take the rest as lost.
  if (held && !drain_and_park()) return false;
  report_drops(at, true);
  for (const auto& each : outputs_) {
    static_cast<void>(each->flush());
    if (each->holds_anything()) each->abandon();
  }
  end_turn(now());
  return true;
}

// Where the library says something: the root logger's sinks, or all of them if it has none.
const std::vector<output*>& worker::note_outputs() noexcept {
  const std::vector<route>& routes = routes_.current();
  return routes.empty() || routes[0].outputs.empty() ? all_outputs_ : routes[0].outputs;
}

void worker::note(level of_note, std::string_view text) noexcept {
  for (output* each : note_outputs())
    if (each->ready()) put_note(*each, of_note, text);
}

void worker::put_note(output& to, level of_note, std::string_view text) noexcept {
  const detail::call_site& site = own_sites[static_cast<std::size_t>(of_note)];
  to.put_note({.site = &site,
               .body = record_view(site.source, text),
               .time = system_now(),
               .stream = ~std::uint64_t{0},
               .logger = "penstock",
               .thread_id = os::thread_id()});
}

std::string worker::clock_text(std::uint64_t ticks) const {
  const wall_ns time = clock_.at(ticks);
  const auto seconds = static_cast<time_t>(time / second_ns);
  tm civil{};
  ::localtime_r(&seconds, &civil);
  std::array<char, 32> text{};
  const std::size_t bytes = ::strftime(text.data(), text.size(), "%H:%M:%S.", &civil);
  put_fraction(text.data() + bytes, static_cast<std::uint32_t>(time % second_ns), 6);
  return {text.data(), bytes + 6};
}

// The log itself says what is missing: how many, of which levels, why, from when to when.
void worker::report_drops(const moment& at, bool at_once) noexcept {
  if (!drops_unreported_.load(std::memory_order_relaxed) || (!at_once && at.steady_ns < next_drop_report_ns_)) return;
  // What cannot be said now is said later: records are dropped just when a sink stands still.
  const std::vector<output*>& to = note_outputs();
  if (!std::all_of(to.begin(), to.end(), [](output* each) { return each->ready(); })) {
    next_drop_report_ns_ = at.steady_ns + 10'000'000;
    return;
  }
  drops_unreported_.store(false, std::memory_order_seq_cst);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  next_drop_report_ns_ = at.steady_ns + second_ns;
  std::array<level_counts, drop_reason_count> dropped{};
  std::uint64_t first = ~std::uint64_t{0};
  std::uint64_t last = 0;
  streams_.for_each([&](transport::thread_stream& stream) {
    stream.add_dropped(dropped);
    if (stream.first_drop_ticks() == 0) return;
    first = std::min(first, stream.first_drop_ticks());
    last = std::max(last, stream.last_drop_ticks());
    stream.forget_drop_times();
  });
  level_counts now_dropped{};
  for (const level_counts& reason : dropped)
    for (std::size_t i = 0; i < level_count; ++i) now_dropped.at[i] += reason.at[i];
  level_counts fresh{};
  for (std::size_t i = 0; i < level_count; ++i) fresh.at[i] = now_dropped.at[i] - reported_drops_.at[i];
  if (fresh.total() == 0 || last == 0) return;
  constexpr std::array<std::string_view, drop_reason_count> reasons{"the memory budget was spent",
                                                                    "the memory budget was spent for block_timeout",
                                                                    "the backend's own quota was spent", "the library was stopping"};
  std::string why;
  for (std::size_t i = 0; i < drop_reason_count; ++i) {
    if (dropped[i] == reported_drops_by_reason_[i]) continue;
    why += (why.empty() ? "" : "; ") + std::string(reasons[i]);
  }
  reported_drops_ = now_dropped;
  reported_drops_by_reason_ = dropped;
  note(level::warning, "penstock: " + std::to_string(fresh.total()) + " records dropped (" + by_level(fresh) + "): " + why + "; from " +
                           clock_text(first) + " to " + clock_text(last));
}

// Tells the error handler of trouble, at most once a second, and the log of losses when they are over.
void worker::spread_news(const moment& at) noexcept {
  for (const auto& each : outputs_) {
    output_news& news = each->news();
    if ((!news.trouble.ok() || news.disabled || (each->disabled() && news.lost != 0)) && at.steady_ns >= news.next_report_ns) {
      const std::string text = each->trouble_text();
      report_({.sink = each->settings().name,
               .message = text,
               .code = news.trouble.code,
               .os_error = news.trouble.os_error,
               .lost_records = news.lost});
      news.trouble = {};
      news.disabled = false;
      news.lost = 0;
      news.next_report_ns = at.steady_ns + second_ns;
    }
    if (!(news.recovered || news.synced_again) || !each->ready()) continue;
    news.recovered = false;
    if (std::exchange(news.synced_again, false)) put_note(*each, level::warning, "penstock: " + each->synced_again_text());
    if (news.lost_unlogged != 0)
      put_note(*each, level::warning,
               "penstock: " + std::to_string(std::exchange(news.lost_unlogged, 0)) + " records were lost: " + each->trouble_text());
  }
}

}  // namespace penstock::backend
