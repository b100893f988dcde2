// SPDX-License-Identifier: MIT
// The running whole: record memory, streams, loggers, the backend and its thread. One a process, made at the first use and never destroyed,
// so that logging works before main() and after static destructors.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <penstock/base/error.hpp>
#include <penstock/config.hpp>
#include <penstock/stats.hpp>

#include "lib/backend/route_table.hpp"
#include "lib/backend/worker.hpp"
#include "lib/engine/loggers.hpp"
#include "lib/os/thread.hpp"
#include "lib/transport/exchange.hpp"
#include "lib/transport/registry.hpp"

namespace penstock::engine {

enum class state : std::uint8_t {
  unstarted,    ///< the first record starts the library
  running,      ///< a backend thread takes records
  stopped,      ///< each record is written by its own thread
  left_behind,  ///< stop() gave up waiting for the backend thread: records are dropped and counted
};

/// What the slow path of a log statement needs of the configuration. Read by threads that log, written before the state changes.
struct front_settings {
  std::atomic<format_mode> format{format_mode::automatic};
  std::atomic<clock_source> clock{clock_source::tsc};
  std::atomic<overflow_policy> overflow{overflow_policy::block};
  std::atomic<level> keep_level{level::warning};
  std::atomic<std::int64_t> block_timeout_ns{0};
  std::atomic<std::size_t> record_bytes_max{backend::record_bytes_max(~std::size_t{0})};
};

class instance {
 public:
  static instance& get() noexcept {
    instance* const made = current.load(std::memory_order_acquire);
    return made != nullptr ? *made : make_first();
  }

  void start(config settings, bool by_first_record);
  /// Starts by PENSTOCK_CONFIG or the defaults if nothing was started yet.
  void ensure_started() noexcept;
  bool stop(std::chrono::nanoseconds timeout);
  bool ask(backend::request_kind kind, std::chrono::nanoseconds timeout);
  stats_snapshot stats();
  void on_error(void (*handler)(const error_report&) noexcept) { handler_.store(handler); }

  /// After stop(): writes what any thread has logged, on this thread, under a lock.
  void drain_on_this_thread() noexcept;

  engine::state state() const noexcept { return state_.load(std::memory_order_seq_cst); }
  const front_settings& front() const noexcept { return front_; }
  backend::worker& worker() noexcept { return worker_; }
  transport::exchange& memory() noexcept { return memory_; }
  transport::registry& streams() noexcept { return streams_; }
  engine::loggers& loggers() noexcept { return loggers_; }

  /// Records dropped by threads that could not even get a stream.
  void count_homeless(level of_record) noexcept { homeless_[static_cast<std::size_t>(of_record)].fetch_add(1, std::memory_order_relaxed); }

 private:
  // Loggers outlive an instance: a forked child makes a new one, and handles stay what they are.
  explicit instance(engine::loggers& loggers, backend::route_table& routes);
  static instance& make_first() noexcept;

  void launch(config settings);
  void close_run() noexcept;
  void report(const error_report& what) noexcept;
  enum class gate : std::uint8_t { closed, open, gone };
  static void run_backend(void* raw);
  void start_thread();
  void open_gate(gate to) noexcept;
  void prepare_fork() noexcept;
  void resume_parent() noexcept;
  void begin_child() noexcept;
  /// The same configuration for a forked child: files that one process must own get its pid behind their name.
  static config for_child(config settings);

  static std::atomic<instance*> current;

  std::mutex mutex_;  // start, stop, fork.
  std::atomic<engine::state> state_{engine::state::unstarted};
  bool explicitly_started_ = false;
  transport::exchange memory_;
  transport::registry streams_;
  backend::route_table& routes_;
  engine::loggers& loggers_;
  backend::worker worker_;
  os::thread thread_;
  std::atomic<gate> gate_{gate::closed};  // What the new backend thread waits for: everything is set up, or there is no run.
  front_settings front_;
  config settings_{};
  bool inherited_ = false;  // In a forked child: settings_ is what the first record starts.
  std::mutex drain_mutex_;  // After stop(): the reader.
  std::atomic<void (*)(const error_report&) noexcept> handler_{nullptr};
  std::atomic<std::uint64_t> homeless_[level_count]{};
  std::unique_ptr<backend::output> last_resort_;  // Standard error, for records after stop() without a sink.
};

// Declared as it is so that reading it is one load, in a shared library too.
extern __attribute__((tls_model("initial-exec"))) constinit thread_local bool this_is_the_backend;
/// Whether the calling thread is the backend: its thread, or one that drains after stop(). Such a thread never waits for the backend.
inline bool on_backend() noexcept { return this_is_the_backend; }

class backend_scope {
 public:
  backend_scope() noexcept;
  ~backend_scope();
  backend_scope(const backend_scope&) = delete;
  backend_scope& operator=(const backend_scope&) = delete;

 private:
  bool former_;
};

}  // namespace penstock::engine
