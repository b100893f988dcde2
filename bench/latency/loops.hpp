// SPDX-License-Identifier: MIT
// The loops that are measured, one instantiation for each logger so that its calls are inlined as in a program of its own. A Peer has
//
//   void start(const std::filesystem::path& file, int backend_cpu);   backend_cpu -1: not pinned
//   void begin_thread();                     on each thread that logs, before the clock starts
//   void warm();                             one record that is not counted
//   void order(std::uint64_t index, int quantity, double price, const char* symbol);
//   void numbers(int a, int b, int c, double d);
//   void text(const std::string& line);
//   void end_thread();
//   void flush();                            before the clock starts: what was logged so far is written
//   void finish();                           at the end: everything is with the kernel; nothing is logged after it
//   void stop();                             not measured; the lines are in `file` as text afterwards
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "bench/latency/measure.hpp"
#include "bench/latency/ticks.hpp"
#include "bench/latency/workload.hpp"

namespace penstock::bench {

/// Wall time and processor time from one moment on.
class stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }
  double cpu_seconds() const { return process_cpu_seconds() - cpu_start_seconds_; }

 private:
  double cpu_start_seconds_ = process_cpu_seconds();
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <class Peer>
void finish(Peer& peer, const stopwatch& watch, raw_run& run) {
  run.returned_seconds = watch.seconds();
  peer.finish();
  run.written_seconds = watch.seconds();
  run.cpu_seconds = watch.cpu_seconds();
  run.peak_memory_bytes = peak_memory_bytes();
}

template <class Peer>
void log_orders(Peer& peer, std::uint64_t first_index, std::uint64_t calls) {
  const call_values& with = values();
  for (std::uint64_t k = 0; k < calls; ++k)
    peer.order(first_index + k, static_cast<int>(k % 1000), with.prices[k % with.prices.size()], with.symbols[k % with.symbols.size()]);
}

template <class Peer>
void run_throughput(Peer& peer, const workload& work, raw_run& run) {
  peer.begin_thread();
  peer.warm();
  peer.flush();
  if (work.threads == 1) {
    const stopwatch watch;
    log_orders(peer, 0, work.calls);
    finish(peer, watch, run);
    return;
  }
  std::latch ready(static_cast<std::ptrdiff_t>(work.threads));
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < work.threads; ++t) {
    threads.emplace_back([&, t] {
      peer.begin_thread();
      peer.warm();
      ready.count_down();
      go.wait(false);
      log_orders(peer, t * thread_stride, work.calls);
      peer.end_thread();
    });
  }
  ready.wait();
  peer.flush();
  const stopwatch watch;
  go.store(true);
  go.notify_all();
  for (std::thread& thread : threads) thread.join();
  finish(peer, watch, run);
}

struct latency_samples {
  std::vector<std::uint64_t> calls{};
  std::vector<std::uint64_t> empty{};
};

/// Bursts, each followed by a spin of `pause_ns`: the caller's caches stay as a busy program's, and the backend has time to take all.
template <class Peer>
void measure_calls(Peer& peer, const workload& work, int thread, latency_samples& samples) {
  const call_values& with = values();
  const auto pause_ticks = static_cast<std::uint64_t>(static_cast<double>(pause_ns) * ticks_per_ns());
  const auto bursts = static_cast<int>(work.calls / burst_calls);
  std::size_t sample = 0;
  for (int burst = -static_cast<int>(warm_bursts(work)); burst < bursts; ++burst) {
    for (int k = 0; k < static_cast<int>(burst_calls); ++k) {
      const int index = burst * static_cast<int>(burst_calls) + k;
      const double price = with.prices[static_cast<unsigned>(index) % with.prices.size()];
      const std::uint64_t begin = ticks_before();
      peer.numbers(index, k, thread, price);
      const std::uint64_t end = ticks_after();
      const std::uint64_t empty_begin = ticks_before();
      const std::uint64_t empty_end = ticks_after();
      if (burst < 0) continue;
      samples.calls[sample] = end - begin;
      samples.empty[sample] = empty_end - empty_begin;
      ++sample;
    }
    for (const std::uint64_t begin = ticks_before(); ticks_before() - begin < pause_ticks;) spin_pause();
  }
}

template <class Peer>
void run_latency(Peer& peer, const workload& work, int producer_cpu, raw_run& run) {
  std::vector<latency_samples> samples(work.threads);
  std::latch ready(static_cast<std::ptrdiff_t>(work.threads));
  const auto body = [&](std::size_t t) {
    // Written once, so that no sample of the loop pays for a new page.
    samples[t].calls.assign(work.calls, 1);
    samples[t].empty.assign(work.calls, 1);
    peer.begin_thread();
    peer.warm();
    ready.arrive_and_wait();
    measure_calls(peer, work, static_cast<int>(t), samples[t]);
    peer.end_thread();
  };
  const stopwatch watch;
  if (work.threads == 1) {
    pin_this_thread(producer_cpu);
    body(0);
  } else {
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < work.threads; ++t) threads.emplace_back(body, t);
    for (std::thread& thread : threads) thread.join();
  }
  finish(peer, watch, run);
  for (const latency_samples& one : samples) {
    run.call_ticks.insert(run.call_ticks.end(), one.calls.begin(), one.calls.end());
    run.empty_ticks.insert(run.empty_ticks.end(), one.empty.begin(), one.empty.end());
  }
}

template <class Peer>
void run_long_records(Peer& peer, const workload& work, raw_run& run) {
  const std::string record = long_record(work.record_bytes);
  peer.begin_thread();
  peer.warm();
  peer.flush();
  const stopwatch watch;
  for (std::uint64_t i = 0; i < work.calls; ++i) peer.text(record);
  finish(peer, watch, run);
}

/// So much of each stack is touched before memory is read, so that what a log call touches of it is not taken for the logger's.
inline constexpr std::size_t touched_stack_bytes = std::size_t{64} << 10;
/// How long after the last record the logger is watched: longer than any of them takes to fall silent, and than a scheduler's tick.
inline constexpr std::chrono::milliseconds settle_time{500};
inline constexpr std::chrono::seconds watched_time{3};

/// Threads that log one record each and then wait: what they cost while nothing is logged.
template <class Peer>
void run_idle(Peer& peer, const workload& work, raw_run& run) {
  peer.begin_thread();
  peer.warm();
  peer.flush();
  const auto count = static_cast<std::ptrdiff_t>(work.threads);
  std::latch begun(count);
  std::latch logged(count);
  std::atomic<bool> go{false};
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < work.threads; ++t) {
    threads.emplace_back([&, t] {
      char stack[touched_stack_bytes];
      for (std::size_t at = 0; at < sizeof stack; at += 4096) static_cast<volatile char*>(stack)[at] = 1;
      begun.count_down();
      go.wait(false);
      peer.begin_thread();
      log_orders(peer, t * thread_stride, 1);
      logged.count_down();
      end.wait(false);
      peer.end_thread();
    });
  }
  begun.wait();
  const std::uint64_t bytes_before = resident_bytes();
  go.store(true);
  go.notify_all();
  logged.wait();
  std::this_thread::sleep_for(settle_time);
  run.idle_bytes_per_thread = (static_cast<double>(resident_bytes()) - static_cast<double>(bytes_before)) / static_cast<double>(count);
  const stopwatch watch;
  std::this_thread::sleep_for(watched_time);
  run.idle_cpu_share = watch.cpu_seconds() / watch.seconds();
  end.store(true);
  end.notify_all();
  for (std::thread& thread : threads) thread.join();
  finish(peer, watch, run);
}

/// One run of one workload; the process does nothing else.
template <class Peer>
raw_run run_workload(Peer& peer, const workload& work, const std::filesystem::path& file) {
  ticks_per_ns();
  values();
  raw_run run{.base_memory_bytes = peak_memory_bytes()};
  const std::vector<int> cpus = usable_cpus();
  const bool pinned = work.kind == workload_kind::latency && cpus.size() >= 2;
  const int backend_cpu = pinned ? cpus[1] : -1;
  peer.start(file, backend_cpu);
  pin_other_threads(backend_cpu);
  switch (work.kind) {
    case workload_kind::throughput:
      run_throughput(peer, work, run);
      break;
    case workload_kind::latency:
      run_latency(peer, work, pinned ? cpus[0] : -1, run);
      break;
    case workload_kind::long_records:
      run_long_records(peer, work, run);
      break;
    case workload_kind::idle:
      run_idle(peer, work, run);
      break;
  }
  // Before stop(), where a binary log is turned into text; after it for a logger that chooses the file's name itself.
  run.file_bytes = bytes_of(file);
  peer.stop();
  if (run.file_bytes == 0) run.file_bytes = bytes_of(file);
  return run;
}

}  // namespace penstock::bench
