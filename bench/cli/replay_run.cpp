// SPDX-License-Identifier: MIT
#include "bench/cli/replay_run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <semaphore>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>

#include "bench/suites/progress.hpp"
#include "bench/suites/scratch.hpp"
#include "lib/os/sigbus_guard.hpp"

namespace penstock::cli {
namespace {

using clock = std::chrono::steady_clock;

double seconds_between(clock::time_point from, clock::time_point to) { return std::chrono::duration<double>(to - from).count(); }

class sender {
 public:
  sender(const replay_call& call, const std::deque<log_file>& logs)
      : logs_(logs), job_count_(logs.size() * call.repeat), thread_count_(call.threads), running_(call.threads) {}

  replay_result run(double total_bytes) {
    std::latch ready(static_cast<std::ptrdiff_t>(thread_count_) + 1);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < thread_count_; ++i) {
      threads.emplace_back([this, &ready] {
        os::let_sigbus_through();
        ready.arrive_and_wait();
        send_files();
      });
    }
    start_ = clock::now();
    ready.arrive_and_wait();
    wait_for_the_end(total_bytes);
    threads.clear();
    result_.sent_lines = sent_lines_;
    result_.sent_bytes = sent_bytes_;
    result_.interrupted = bench::interrupted();
    return result_;
  }

 private:
  /// Counted, and Ctrl-C looked for, once in so many lines.
  static constexpr std::uint64_t step_lines = 1024;
  static constexpr std::chrono::milliseconds step{50};
  static constexpr int steps_after_interrupt = 20;  // a second

  void send_files() {
    for (std::size_t job = next_job_.fetch_add(1); job < job_count_ && !bench::interrupted(); job = next_job_.fetch_add(1))
      send_lines(logs_[job % logs_.size()].text());
    if (running_.fetch_sub(1) != 1) return;
    // The last one to be done: no other line comes.
    result_.returned_seconds = seconds_between(start_, clock::now());
    result_.flushed = flush();
    result_.written_seconds = seconds_between(start_, clock::now());
    done_.release();
  }

  void send_lines(std::string_view rest) {
    std::uint64_t lines = 0;
    std::uint64_t bytes = 0;
    while (!rest.empty() && !given_up_.load(std::memory_order_relaxed)) {
      const std::string_view line = take_line(rest);
      PENSTOCK_INFO("{}", line);
      bytes += line.size() + 1;
      if (++lines != step_lines && !rest.empty()) continue;
      sent_lines_.fetch_add(lines, std::memory_order_relaxed);
      sent_bytes_.fetch_add(bytes, std::memory_order_relaxed);
      lines = 0;
      bytes = 0;
      if (bench::interrupted()) return;
    }
  }

  /// Shows progress on a terminal. After an interrupt the lines that were sent get some time; then stop() lets go whoever waits for a sink
  /// that takes nothing, such as a full disk.
  void wait_for_the_end(double total_bytes) {
    const bool watched = ::isatty(STDERR_FILENO) != 0;
    bench::progress progress("replay", total_bytes);
    std::uint64_t shown_bytes = 0;
    int steps_left = 1 + steps_after_interrupt;
    while (!done_.try_acquire_for(step) && steps_left > 0) {
      if (bench::interrupted() && --steps_left == 0) {
        given_up_.store(true, std::memory_order_relaxed);
        stop(std::chrono::seconds(5));
      }
      if (!watched) continue;
      const std::uint64_t now_bytes = sent_bytes_.load(std::memory_order_relaxed);
      progress.step(static_cast<double>(now_bytes - shown_bytes));
      shown_bytes = now_bytes;
      progress.show(fmt::format("{} lines", sent_lines_.load(std::memory_order_relaxed)));
    }
  }

  const std::deque<log_file>& logs_;
  const std::size_t job_count_;
  const std::size_t thread_count_;
  clock::time_point start_{};
  std::atomic<std::size_t> next_job_{0};
  std::atomic<std::size_t> running_;
  std::binary_semaphore done_{0};
  std::atomic<bool> given_up_{false};
  std::atomic<std::uint64_t> sent_lines_{0};
  std::atomic<std::uint64_t> sent_bytes_{0};
  replay_result result_{};  // Written by the last thread before it ends; read after the join.
};

}  // namespace

replay_result run_replay(const replay_call& call, const replay_plan& plan, const std::deque<log_file>& logs) {
  const front_stats before = penstock::stats().front;
  start(plan.settings);
  replay_result result = sender(call, logs).run(static_cast<double>(replay_bytes(call, logs)));
  result.stats = penstock::stats();
  result.dropped_lines = result.stats.front.dropped_total() - before.dropped_total();
  result.cut_short_lines = result.stats.front.cut_short - before.cut_short;
  result.stopped = stop();
  for (const log_file& log : logs)
    if (log.truncated())
      throw std::runtime_error(log.path().string() + " was truncated while it was replayed; what was sent is not its content");
  return result;
}

}  // namespace penstock::cli
