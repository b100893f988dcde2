// SPDX-License-Identifier: MIT
#include "lib/engine/engine.hpp"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "lib/backend/queued_sink.hpp"
#include "lib/os/futex.hpp"
#include "sinks/factory.hpp"

namespace penstock::engine {

namespace {

// In start(): a sink's factory that logs must not start the library once more.
constinit thread_local bool this_is_starting = false;

void stop_at_exit() { static_cast<void>(instance::get().stop(std::chrono::nanoseconds::max())); }

// The default configuration: one console sink.
config with_console(config settings) {
  if (!settings.sinks.empty()) return settings;
  sink_config console;
  console.type = "console";
  settings.sinks.emplace("console", console);
  return settings;
}

// A write to such a sink returns at once, whatever its disk does.
bool never_blocks(const sink& made) {
  const std::string kind = made.describe().kind;
  return kind == "io_uring" || kind == "mmap_ring" || kind == "null";
}

// \param alone whether no other sink could be stopped by this one
std::unique_ptr<backend::output> make_output(const std::string& name, const sink_config& settings, bool alone,
                                             backend::layout_set& layouts) {
  const bool colour = settings.type == "console" && settings.path.empty() && sinks::console_wants_colour(STDERR_FILENO);
  std::unique_ptr<sink> made = sinks::make_sink(settings);
  if (!alone && !never_blocks(*made))
    made = std::make_unique<backend::queued_sink>(std::move(made), effective_batch_bytes(settings), [] { this_is_the_backend = true; });
  return std::make_unique<backend::output>(
      std::move(made), layouts.layout_of(settings.pattern, settings.control_chars, colour),
      backend::output_settings{
          .name = name, .flush_interval_ns = settings.flush_interval.count(), .flush_level = settings.flush_level, .sync = settings.sync});
}

}  // namespace

constinit thread_local bool this_is_the_backend = false;
backend_scope::backend_scope() noexcept : former_(this_is_the_backend) { this_is_the_backend = true; }
backend_scope::~backend_scope() { this_is_the_backend = former_; }

std::atomic<instance*> instance::current{nullptr};

// Never destroyed: static destructors may log. Without memory for it, ending is right.
instance& instance::make_first() noexcept {
  static instance* const made = [] {
    // NOLINTBEGIN(bugprone-unhandled-exception-at-new)
    auto* routes = new backend::route_table;
    auto* first = new instance(*new engine::loggers(*routes), *routes);
    // NOLINTEND(bugprone-unhandled-exception-at-new)
    ::pthread_atfork([] { get().prepare_fork(); }, [] { get().resume_parent(); }, [] { get().begin_child(); });
    current.store(first, std::memory_order_release);
    return first;
  }();
  return *made;
}

instance::instance(engine::loggers& loggers, backend::route_table& routes)
    : streams_(memory_), routes_(routes), loggers_(loggers), worker_(memory_, streams_, routes_) {}

void instance::report(const error_report& what) noexcept {
  if (auto* handler = handler_.load()) {
    handler(what);
    return;
  }
  std::fprintf(stderr, "penstock: %.*s\n", static_cast<int>(what.message.size()), what.message.data());
}

void instance::run_backend(void* raw) {
  const backend_scope scope;
  auto& self = *static_cast<instance*>(raw);
  self.gate_.wait(gate::closed, std::memory_order_acquire);
  if (self.gate_.load(std::memory_order_acquire) == gate::open) self.worker_.run();
}

// Starts the backend thread, which does nothing before the gate opens: if it cannot be had, nothing has changed yet.
void instance::start_thread() {
  gate_.store(gate::closed, std::memory_order_relaxed);
  thread_.start("penstock", &run_backend, this);
}

void instance::open_gate(gate to) noexcept {
  gate_.store(to, std::memory_order_release);
  gate_.notify_one();
}

// Everything that can fail happens before anything changes.
void instance::launch(config settings) {
  settings = with_console(std::move(settings));
  for (auto& [name, sink] : settings.sinks)
    if (!sink.path.empty()) sink.path = std::filesystem::absolute(sink.path);
  std::vector<std::unique_ptr<backend::output>> outputs;
  std::map<std::string, backend::output*, std::less<>> by_name;
  backend::layout_set layouts;
  for (const auto& [name, sink] : settings.sinks) {
    outputs.push_back(make_output(name, sink, settings.sinks.size() == 1, layouts));
    by_name.emplace(name, outputs.back().get());
  }
  start_thread();
  try {
    memory_.set_budget(settings.backend.memory);
  } catch (...) {
    open_gate(gate::gone);
    thread_.join();
    throw;
  }

  const backend_scope scope;  // A handler that is told of a fallback below may ask for statistics, and waits for nothing.
  const std::lock_guard draining(drain_mutex_);
  loggers_.configure(settings, by_name, inherited_);
  worker_.configure(settings.backend, std::move(outputs), [this](const error_report& what) { report(what); });
  routes_.forget_old();
  last_resort_.reset();
  front_.format = settings.backend.format;
  front_.clock = worker_.clock().source();
  front_.overflow = settings.backend.overflow;
  front_.keep_level = settings.backend.keep_level;
  front_.block_timeout_ns = settings.backend.block_timeout.count();
  front_.record_bytes_max = backend::record_bytes_max(settings.backend.memory);
  settings_ = std::move(settings);
  os::membarrier_register();
  open_gate(gate::open);
  state_.store(engine::state::running, std::memory_order_seq_cst);
  static std::atomic<bool> registered{false};
  if (!registered.exchange(true)) std::atexit(&stop_at_exit);
  if (const char* refusal = worker_.clock().refusal()) {
    const std::string text = std::string("backend.clock: ") + refusal + "; the system clock is used instead";
    report({.sink = {}, .message = text, .code = errc::unsupported});
  }
  for (const auto& each : worker_.outputs()) {
    const sink_stats now = each->stats();
    if (now.fallback.empty()) continue;
    const std::string text = "sink " + now.name + ": " + now.fallback + "; " + now.type + " is used instead";
    report({.sink = now.name, .message = text, .code = errc::unsupported});
  }
}

void instance::start(config settings, bool by_first_record) {
  if (on_backend() || this_is_starting)
    throw config_error("start(): called by a sink, a formatter or an error handler; call it from the program's own code");
  struct starting_scope {
    starting_scope() { this_is_starting = true; }
    ~starting_scope() { this_is_starting = false; }
  } const starting;
  const std::lock_guard lock(mutex_);
  const engine::state now = state();
  if (by_first_record && now != engine::state::unstarted) return;
  if (now == engine::state::left_behind)
    throw config_error(
        "start(): the backend thread of an earlier run was left behind by stop(); it cannot be started again in this process");
  if (now == engine::state::running) {
    if (explicitly_started_) throw config_error("start(): the library is running already; call stop() first");
    static_cast<void>(worker_.ask(backend::request_kind::stop, std::chrono::nanoseconds::max()));
    close_run();
  }
  launch(std::move(settings));
  explicitly_started_ = !by_first_record;
}

void instance::ensure_started() noexcept {
  if (state() != engine::state::unstarted || this_is_starting) return;
  config settings;
  if (inherited_) {
    settings = for_child(settings_);
  } else if (const char* file = ::secure_getenv("PENSTOCK_CONFIG"); file != nullptr && *file != '\0') {
    try {
      settings = load_config(file);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "penstock: %s; the default configuration is used\n", error.what());
      settings = {};
    }
  }
  try {
    start(settings, true);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock: %s; the default configuration is used\n", error.what());
    try {
      start({}, true);
    } catch (const std::exception& last) {
      std::fprintf(stderr, "penstock: cannot start: %s\n", last.what());
    }
  }
}

// The backend has served its last request: its sinks leave what takes single lines, and callers write themselves from now on.
void instance::close_run() noexcept {
  thread_.join();
  {
    const std::lock_guard draining(drain_mutex_);
    std::vector<backend::output*> gone;
    for (const auto& each : worker_.outputs())
      if (!each->retire()) gone.push_back(each.get());
    try {
      sink_config console;
      console.type = "console";
      backend::layout_set layouts;
      last_resort_ = make_output("stderr", console, true, layouts);
      worker_.limit_texts(*last_resort_);
      loggers_.route_all_to(gone, last_resort_.get());
    } catch (const std::exception& error) {
      std::fprintf(stderr, "penstock: records after stop() are lost: %s\n", error.what());
    }
    state_.store(engine::state::stopped, std::memory_order_seq_cst);
  }
  // A thread that announced its stream before it could see the new state counts on this.
  drain_on_this_thread();
}

bool instance::stop(std::chrono::nanoseconds timeout) {
  if (on_backend()) return false;
  if (state() == engine::state::left_behind) return false;
  if (state() != engine::state::running) return true;
  // Asked without the lock: a fork must not wait for the backend.
  const bool done = worker_.ask(backend::request_kind::stop, timeout);
  const std::lock_guard lock(mutex_);
  if (state() != engine::state::running) return done;  // Another thread stopped it.
  if (!worker_.finished()) {
    const stats_snapshot left = stats();
    std::uint64_t unwritten = left.front.queued;
    for (const sink_stats& each : left.sinks) unwritten += each.held.total();
    std::fprintf(stderr, "penstock: stop() gave up at its deadline: %llu records are not written yet; the backend thread is left behind\n",
                 static_cast<unsigned long long>(unwritten));
    thread_.abandon();
    state_.store(engine::state::left_behind, std::memory_order_seq_cst);
    return false;
  }
  close_run();
  explicitly_started_ = false;
  return done;
}

bool instance::ask(backend::request_kind kind, std::chrono::nanoseconds timeout) {
  if (on_backend()) return false;
  switch (state()) {
    case engine::state::unstarted:
      return true;
    case engine::state::running:
      return worker_.ask(kind, timeout);
    case engine::state::left_behind:
      return false;
    case engine::state::stopped:
      break;
  }
  drain_on_this_thread();
  const std::lock_guard draining(drain_mutex_);
  const backend_scope scope;
  bool good = true;
  for (const auto& each : worker_.outputs()) {
    const outcome result = kind == backend::request_kind::sync ? each->sync() : each->flush();
    if (kind == backend::request_kind::unload) each->forget_statements();
    good = good && (result.ok() || result.code == errc::unsupported);
  }
  if (kind == backend::request_kind::unload) return good;
  return worker_.tell_losses() && good;
}

void instance::drain_on_this_thread() noexcept {
  if (on_backend()) return;  // The drain that runs on this thread will find it.
  const os::signals_masked masked;
  const std::lock_guard draining(drain_mutex_);
  if (state() != engine::state::stopped) return;
  const backend_scope scope;
  worker_.drain_for_caller();
  if (last_resort_) static_cast<void>(last_resort_->flush());
}

stats_snapshot instance::stats() {
  stats_snapshot all;
  std::unique_lock draining(drain_mutex_, std::defer_lock);
  if (!on_backend()) draining.lock();  // The outputs may be replaced by start().
  // What was taken is read first, so that `queued` is never negative.
  worker_.add_stats(all.front);
  for (const auto& each : worker_.outputs()) all.sinks.push_back(each->stats());
  if (draining.owns_lock()) draining.unlock();
  std::atomic_thread_fence(std::memory_order_acquire);
  streams_.for_each([&all](const transport::thread_stream& stream) {
    const level_counts accepted = stream.accepted_counts();
    for (std::size_t i = 0; i < level_count; ++i) all.front.accepted.at[i] += accepted.at[i];
    stream.add_dropped(all.front.dropped);
    all.front.cut_short += stream.cut_short_count();
  });
  for (std::size_t i = 0; i < level_count; ++i) {
    const std::uint64_t homeless = homeless_[i].load(std::memory_order_relaxed);
    all.front.accepted.at[i] += homeless;
    all.front.dropped[static_cast<std::size_t>(drop_reason::overflow)].at[i] += homeless;
  }
  const std::uint64_t gone = all.front.taken.total() + all.front.dropped_total();
  all.front.queued = all.front.accepted.total() > gone ? all.front.accepted.total() - gone : 0;
  all.threads = streams_.in_use_count();
  all.memory_bytes = memory_.used_bytes();
  all.memory_budget_bytes = memory_.budget_bytes();
  return all;
}

}  // namespace penstock::engine
