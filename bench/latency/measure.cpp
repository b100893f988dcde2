// SPDX-License-Identifier: MIT
#include "bench/latency/measure.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

#include "bench/latency/ticks.hpp"

namespace penstock::bench {
namespace {

double seconds(const timeval& time) noexcept { return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6; }

void pin(pid_t thread, int cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  ::sched_setaffinity(thread, sizeof set, &set);
}

}  // namespace

double ticks_per_ns() noexcept {
  static const double measured = [] {
    using clock = std::chrono::steady_clock;
    const auto begin = clock::now();
    const std::uint64_t first = ticks_before();
    auto end = begin;
    do end = clock::now();
    while (end - begin < std::chrono::milliseconds(50));
    const std::uint64_t last = ticks_before();
    return static_cast<double>(last - first) / std::chrono::duration<double, std::nano>(end - begin).count();
  }();
  return measured;
}

double process_cpu_seconds() noexcept {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

std::uint64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t pages = 0;
  statm >> pages >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t bytes_of(const std::filesystem::path& file) noexcept {
  std::error_code missing;
  const std::uintmax_t bytes = std::filesystem::file_size(file, missing);
  return missing ? 0 : bytes;
}

std::vector<int> usable_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  return cpus;
}

void pin_this_thread(int cpu) noexcept {
  if (cpu >= 0) pin(0, cpu);
}

void pin_other_threads(int cpu) {
  if (cpu < 0) return;
  // A thread that a logger has just made is not there yet.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    const pid_t thread = std::stoi(entry.path().filename().string());
    if (thread != self) pin(thread, cpu);
  }
}

latency_figures figures_of(std::vector<std::uint64_t> ticks) {
  if (ticks.empty()) return {};
  std::sort(ticks.begin(), ticks.end());
  const auto at = [&](double fraction) {
    const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(ticks.size())));
    return static_cast<double>(ticks[std::max<std::size_t>(rank, 1) - 1]) / ticks_per_ns();
  };
  return {.p50 = at(0.5), .p90 = at(0.9), .p99 = at(0.99), .p999 = at(0.999), .max = at(1)};
}

std::vector<std::uint64_t> with_calls_held_up(std::vector<std::uint64_t> ticks, std::uint64_t pause_ticks, std::uint64_t burst) {
  const std::size_t made = ticks.size();
  for (std::size_t i = 0; i < made; ++i) {
    for (std::uint64_t wait = ticks[i]; wait > pause_ticks;) {
      wait -= pause_ticks;
      ticks.insert(ticks.end(), burst, wait);
    }
  }
  return ticks;
}

}  // namespace penstock::bench
