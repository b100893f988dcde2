// SPDX-License-Identifier: MIT
#include "bench/latency/one_run.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace penstock::bench {
namespace {

std::uint64_t number_from(const std::string& word) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) throw std::invalid_argument(word + " is not a number");
  return value;
}

void add_latency(run_figures& figures, const raw_run& run) {
  const auto pause_ticks = static_cast<std::uint64_t>(static_cast<double>(pause_ns) * ticks_per_ns());
  std::vector<std::uint64_t> held_up = with_calls_held_up(run.call_ticks, pause_ticks, burst_calls);
  figures["calls"] = static_cast<double>(run.call_ticks.size());
  figures["calls_held_up"] = static_cast<double>(held_up.size() - run.call_ticks.size());
  const latency_figures all = figures_of(std::move(held_up));
  const latency_figures made = figures_of(run.call_ticks);
  const latency_figures empty = figures_of(run.empty_ticks);
  figures["p50_ns"] = all.p50;
  figures["p90_ns"] = all.p90;
  figures["p99_ns"] = all.p99;
  figures["p99.9_ns"] = all.p999;
  figures["max_ns"] = all.max;
  figures["made_p99_ns"] = made.p99;
  figures["made_p99.9_ns"] = made.p999;
  figures["empty_p50_ns"] = empty.p50;
  figures["empty_p99.9_ns"] = empty.p999;
}

}  // namespace

run_figures figures_of_run(const workload& of, const raw_run& run, const line_counts& lines) {
  const auto sent = static_cast<double>(expected_lines(of));
  const auto whole = static_cast<double>(lines.whole);
  run_figures figures{{"lines_sent", sent},
                      {"lines_found", whole},
                      {"lines_lost", sent - whole},
                      {"lines_wrong", static_cast<double>(lines.wrong)},
                      {"lines_repeated", static_cast<double>(lines.repeated)},
                      {"lines_disordered", static_cast<double>(lines.disordered)},
                      {"written_s", run.written_seconds},
                      {"returned_s", run.returned_seconds},
                      {"cpu_s", run.cpu_seconds},
                      {"file_mb", static_cast<double>(run.file_bytes) / 1e6},
                      {"base_memory_mb", static_cast<double>(run.base_memory_bytes) / 1e6},
                      {"peak_memory_mb", static_cast<double>(run.peak_memory_bytes) / 1e6}};
  if (of.kind == workload_kind::latency) {
    add_latency(figures, run);
  } else if (of.kind == workload_kind::idle) {
    figures["idle_cpu_percent"] = run.idle_cpu_share * 100;
    figures["idle_bytes_per_thread"] = run.idle_bytes_per_thread;
  } else {
    // What was lost was not logged: it counts neither as work nor for the rate.
    figures["lines_per_s"] = whole / run.written_seconds;
    const auto in_file = static_cast<double>(lines.whole + lines.wrong + lines.repeated);
    figures["mb_per_s"] = in_file == 0 ? 0 : static_cast<double>(run.file_bytes) / 1e6 / run.written_seconds * whole / in_file;
    figures["cpu_us_per_line"] = run.cpu_seconds * 1e6 / sent;
  }
  return figures;
}

std::vector<std::string> words_of(const workload& of, const std::filesystem::path& file) {
  return {std::to_string(static_cast<int>(of.kind)), std::to_string(of.threads), std::to_string(of.calls), std::to_string(of.record_bytes),
          file.string()};
}

workload workload_from(std::span<const std::string> words, std::filesystem::path& file) {
  if (words.size() != 5) throw std::invalid_argument("this program is called by `penstock bench logger`");
  const std::uint64_t kind = number_from(words[0]);
  workload of{.kind = static_cast<workload_kind>(kind),
              .threads = number_from(words[1]),
              .calls = number_from(words[2]),
              .record_bytes = number_from(words[3])};
  file = words[4];
  if (kind > static_cast<std::uint64_t>(workload_kind::idle) || of.threads == 0 || of.calls == 0 || of.calls >= thread_stride)
    throw std::invalid_argument("there is no such workload");
  return of;
}

std::string text_of(const run_figures& figures) {
  std::ostringstream text;
  text.precision(12);
  for (const auto& [name, value] : figures) text << name << ' ' << value << '\n';
  return text.str();
}

run_figures figures_from(std::string_view text) {
  std::istringstream in{std::string(text)};
  run_figures figures;
  std::string name;
  for (double value = 0; in >> name >> value;) figures[name] = value;
  return figures;
}

void hand_over(std::string_view text) {
  while (!text.empty()) {
    const ssize_t done = ::write(result_descriptor, text.data(), text.size());
    if (done < 0 && errno != EINTR)
      throw std::system_error(errno, std::generic_category(), "this program is called by `penstock bench logger`");
    if (done > 0) text.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace penstock::bench
