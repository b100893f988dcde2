// SPDX-License-Identifier: MIT
#include "bench/latency/rotation_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <fstream>
#include <latch>
#include <string_view>
#include <system_error>
#include <thread>

#include <penstock/penstock.hpp>

#include "bench/latency/ticks.hpp"
#include "bench/suites/scratch.hpp"
#include "bench/suites/statistics.hpp"
#include "bench/suites/table.hpp"

namespace penstock::bench {
namespace {

namespace fs = std::filesystem;
using clock = std::chrono::steady_clock;

// Room for what both runs of a row leave, at the rate of a fast machine.
constexpr std::uintmax_t space_bytes = std::uintmax_t{4} << 30;

/// Durations in classes of a sixteenth of a power of two: millions of calls a second cannot be kept each on its own.
class call_histogram {
 public:
  void add(std::uint64_t ticks) noexcept {
    longest_ = std::max(longest_, ticks);
    const unsigned shift = ticks < 2 * steps ? 0 : static_cast<unsigned>(std::bit_width(ticks)) - 5;
    ++counts_[shift * steps + (ticks >> shift)];
    ++total_;
  }
  void add(const call_histogram& other) noexcept {
    longest_ = std::max(longest_, other.longest_);
    total_ += other.total_;
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  }
  std::uint64_t total() const noexcept { return total_; }
  std::uint64_t longest() const noexcept { return longest_; }
  /// The lower end of the class that the call of this rank from the top is in.
  std::uint64_t at_rank(std::uint64_t from_top) const noexcept {
    for (std::size_t i = counts_.size(); i-- > 0;) {
      if (counts_[i] <= from_top) {
        from_top -= counts_[i];
        continue;
      }
      const std::size_t shift = i < 2 * steps ? 0 : i / steps - 1;
      return (i - shift * steps) << shift;
    }
    return 0;
  }

 private:
  static constexpr std::size_t steps = 16;
  std::array<std::uint64_t, 61 * steps + steps> counts_{};
  std::uint64_t longest_ = 0;
  std::uint64_t total_ = 0;
};

config settings_of(const std::string& type, const fs::path& file, std::uint64_t limit_bytes) {
  config made;
  sink_config& sink = made.sinks["bench"];
  sink.type = type;
  sink.path = file;
  sink.strict = type == "io_uring";  // A fallback would be measured under the wrong name.
  sink.pattern = "{time} {level} {thread} {message}";
  sink.rotate.size = limit_bytes;
  made.loggers["root"] = {.level = level::info, .sinks = {{"bench"}}};
  return made;
}

/// Reads " t3 n1234 " out of a line. False: it is no record of the run.
bool parse(std::string_view line, std::size_t& thread, std::uint64_t& number) {
  const std::size_t at = line.find(" t");
  if (at == std::string_view::npos || !line.ends_with(" end")) return false;
  const char* const end = line.data() + line.size();
  const auto first = std::from_chars(line.data() + at + 2, end, thread);
  if (first.ec != std::errc() || end - first.ptr < 3 || first.ptr[0] != ' ' || first.ptr[1] != 'n') return false;
  return std::from_chars(first.ptr + 2, end, number).ec == std::errc();
}

/// How many records are not where they belong, over all files of the log: lost, doubled, swapped or divided.
std::uint64_t wrong_records(const fs::path& live, const std::vector<std::uint64_t>& sent) {
  std::vector<fs::path> files;  // Names of closed ones sort in the order of time, and the live one comes last.
  for (const auto& entry : fs::directory_iterator(live.parent_path()))
    if (entry.path() != live) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  files.push_back(live);
  std::vector<std::uint64_t> next(sent.size(), 0);
  std::uint64_t wrong = 0;
  for (const fs::path& file : files) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      std::size_t thread = 0;
      std::uint64_t number = 0;
      const bool good = parse(line, thread, number) && thread < next.size() && number == next[thread] && !in.eof();
      if (good)
        ++next[thread];
      else
        ++wrong;
    }
  }
  for (std::size_t t = 0; t < sent.size(); ++t) wrong += sent[t] - std::min(sent[t], next[t]);
  return wrong;
}

rotation_run run_once(const rotation_options& chosen, const std::string& type, std::uint64_t limit_bytes) {
  const scratch_folder folder(chosen.dir);
  const fs::path file = folder.target();
  start(settings_of(type, file, limit_bytes));
  std::vector<call_histogram> calls(chosen.threads);
  std::latch ready(static_cast<std::ptrdiff_t>(chosen.threads) + 1);
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < chosen.threads; ++t)
    threads.emplace_back([&, t] {
      call_histogram& mine = calls[t];
      ready.arrive_and_wait();
      while (!over.load(std::memory_order_relaxed)) {
        const std::uint64_t begin = ticks_before();
        PENSTOCK_INFO("t{} n{} filled qty {} price {} end", t, mine.total(), 17, 118.25);
        mine.add(ticks_after() - begin);
      }
    });
  ready.arrive_and_wait();
  const auto begin = clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(chosen.milliseconds));
  over.store(true, std::memory_order_relaxed);
  for (std::thread& each : threads) each.join();
  flush();
  const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
  const auto bytes = static_cast<double>(stats().sinks.front().bytes);
  stop();
  call_histogram all;
  std::vector<std::uint64_t> sent;
  for (const call_histogram& each : calls) {
    all.add(each);
    sent.push_back(each.total());
  }
  const auto closed_count = std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) - 1;
  const double ticks_per_us = ticks_per_ns() * 1e3;
  return {.records_per_second = static_cast<double>(all.total()) / seconds,
          .mb_per_second = bytes / 1e6 / seconds,
          .files_per_second = static_cast<double>(closed_count) / seconds,
          .longest_call_us = static_cast<double>(all.longest()) / ticks_per_us,
          .p9999_us = static_cast<double>(all.at_rank(all.total() / 10'000)) / ticks_per_us,
          .wrong_count = wrong_records(file, sent)};
}

std::string median_of(const std::vector<rotation_run>& runs, double rotation_run::*figure) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const rotation_run& each : runs) values.push_back(each.*figure);
  return values.empty() ? "" : three_digits(summarise(std::move(values)).median);
}

std::vector<std::string> cells_of(const std::string& name, const std::vector<rotation_run>& runs) {
  double longest_us = 0;
  std::uint64_t wrong = 0;
  for (const rotation_run& each : runs) {
    longest_us = std::max(longest_us, each.longest_call_us);
    wrong += each.wrong_count;
  }
  return {name,
          median_of(runs, &rotation_run::files_per_second),
          median_of(runs, &rotation_run::records_per_second),
          median_of(runs, &rotation_run::mb_per_second),
          median_of(runs, &rotation_run::p9999_us),
          median_of(runs, &rotation_run::longest_call_us),
          three_digits(longest_us),
          std::to_string(wrong)};
}

}  // namespace

std::vector<rotation_row> run_rotation_bench(const rotation_options& chosen) {
  ticks_per_ns();
  require_space(chosen.dir, space_bytes, "the files of two runs");
  std::vector<rotation_row> rows;
  for (const std::string& type : chosen.sinks) rows.push_back({.sink = type});
  for (std::size_t pass = 0; pass < chosen.repeat; ++pass) {
    for (rotation_row& row : rows) {
      if (interrupted()) return rows;
      if (!row.refusal.empty()) continue;
      try {
        // Every other pass the other way round: what a run leaves for the disk to do is the next one's burden.
        const bool first = pass % 2 == 0;
        if (first) row.without.push_back(run_once(chosen, row.sink, 0));
        const double limit_bytes = row.without.back().mb_per_second * 1e6 / chosen.files_per_second;
        row.with.push_back(run_once(chosen, row.sink, std::max<std::uint64_t>(4096, static_cast<std::uint64_t>(limit_bytes))));
        if (!first) row.without.push_back(run_once(chosen, row.sink, 0));
      } catch (const config_error& refused) {
        row.refusal = refused.what();
      } catch (const std::system_error& refused) {
        row.refusal = refused.what();
      }
    }
  }
  return rows;
}

std::string rotation_table_text(const std::vector<rotation_row>& rows) {
  std::vector<std::vector<std::string>> table{
      {"sink", "files/s", "records/s", "MB/s", "p99.99 us", "longest us", "of all runs", "wrong records"}};
  for (const rotation_row& row : rows) {
    if (row.with.empty()) {
      if (!row.refusal.empty()) table.push_back({row.sink + " is left out: " + row.refusal});
      continue;
    }
    table.push_back(cells_of(row.sink, row.without));
    table.push_back(cells_of(row.sink + ", rotated", row.with));
  }
  return aligned(table);
}

}  // namespace penstock::bench
