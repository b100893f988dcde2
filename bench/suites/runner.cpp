// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "bench/suites/checksum.hpp"
#include "bench/suites/content.hpp"
#include "bench/suites/machine_speed.hpp"
#include "bench/suites/progress.hpp"
#include "bench/suites/raw_io.hpp"
#include "bench/suites/scratch.hpp"
#include "bench/suites/suite.hpp"

namespace penstock::bench {
namespace {

constexpr std::uint64_t short_pass_bytes_max = std::uint64_t{64} << 20;
constexpr std::uint64_t long_pass_bytes_min = std::uint64_t{500} << 20;

// What became of one cell.
struct tally {
  std::map<clock_kind, std::vector<double>> values;  // in nanoseconds
  std::map<clock_kind, double> first;
  bool dropped = false;
};

// Short passes are cheap and noisy, so there are more of them. Three are what a 1 GB column can afford.
int passes_of(const column& size, const options& chosen) {
  if (chosen.repeat > 0) return chosen.repeat;
  if (chosen.smoke) return 2;
  if (size.bytes <= short_pass_bytes_max) return 15;
  return size.bytes < long_pass_bytes_min ? 7 : 3;
}

// Short passes are spread over the whole run, so that a minute in which the machine is slow is a part of each cell and makes none of them:
// the spread then says how far another run may be away. Columns of long passes take minutes each, and make their large source once.
constexpr int laps = 5;

bool has_first_pass(const column& size) { return size.bytes <= short_pass_bytes_max; }

double weight_of(const column& size) { return static_cast<double>(size.bytes) + 1e6; }

// The state of the target that the file policy promises to the case. What is there has the right length and other content, so that a case
// that does nothing cannot pass.
void prepare_target(const scratch_folder& folder, const column& size, const options& chosen) {
  ::unlink(folder.target().c_str());
  if (chosen.file == file_policy::new_file) return;
  static const std::vector<std::byte> filler(std::size_t{256} << 10, std::byte{0xa5});
  make_file(folder.target(), size.bytes, [](std::uint64_t, std::size_t bytes) { return std::span(filler).first(bytes); });
}

std::string check(const cell& the_case, const column& size, const pass& done) {
  if (the_case.verify) return the_case.verify(done);
  const digest seen = the_case.reads ? done.read.value_or(digest{}) : digest_of_file(done.target);
  if (seen == size.expected) return {};
  if (seen.bytes != size.expected.bytes) return fmt::format("{} bytes instead of {}", seen.bytes, size.expected.bytes);
  return "the length is right and the content is wrong";
}

void sync_target(pass& done) {
  const os::descriptor fd = open_source(done.target);
  if (::fdatasync(fd.get()) != 0) fail("fdatasync", done.target);
  done.synced();
}

class runner {
 public:
  runner(suite what, const options& chosen) : chosen_(chosen), folder_(chosen.dir), progress_(what.name, total_weight(what)) {
    result_.what = std::move(what);
  }

  suite_result run() {
    const std::vector<column>& columns = result_.what.columns;
    std::vector<std::vector<tally>> tallies;
    tallies.reserve(columns.size());
    for (const column& size : columns) tallies.emplace_back(size.cells.size());
    for (int lap = 0; lap < laps; ++lap) {
      for (std::size_t i = 0; i < columns.size() && !interrupted(); ++i) run_lap(columns[i], lap, tallies[i]);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      for (std::size_t k = 0; k < columns[i].cells.size(); ++k) keep(columns[i], columns[i].cells[k], tallies[i][k]);
    }
    if (const std::string speed = speed_.text(); !speed.empty()) note(speed);
    result_.interrupted = interrupted();
    return std::move(result_);
  }

 private:
  double total_weight(const suite& what) const {
    double sum = 0;
    for (const column& size : what.columns) {
      const int rounds = passes_of(size, chosen_) + (has_first_pass(size) ? 1 : 0);
      sum += weight_of(size) * rounds * static_cast<double>(size.cells.size());
    }
    return sum;
  }

  // The rounds of one column that belong to this lap.
  void run_lap(const column& size, int lap, std::vector<tally>& tallies) {
    const int rounds = passes_of(size, chosen_);
    const bool spread = has_first_pass(size);
    if (!spread && lap > 0) return;
    const int begin = spread ? rounds * lap / laps : 0;
    const int end = spread ? rounds * (lap + 1) / laps : rounds;
    const bool cold = spread && lap == 0;
    if (begin == end && !cold) return;
    if (size.has_source)
      make_file(folder_.source(), size.bytes, [](std::uint64_t offset, std::size_t n) { return content::instance().block(offset, n); });
    if (cold) run_round(size, -1, rounds, tallies);
    for (int round = begin; round < end; ++round) run_round(size, round, rounds, tallies);
    ::unlink(folder_.target().c_str());
    ::unlink(folder_.source().c_str());
  }

  // Each round begins at another row, so that no row always runs after the same neighbour or on the coolest machine.
  void run_round(const column& size, int round, int rounds, std::vector<tally>& tallies) {
    speed_.probe();
    const std::size_t n = size.cells.size();
    const std::size_t shift = static_cast<std::size_t>(std::max(round, 0)) * std::max<std::size_t>(n / static_cast<std::size_t>(rounds), 1);
    for (std::size_t i = 0; i < n && !interrupted(); ++i) {
      const std::size_t index = (i + shift) % n;
      if (!tallies[index].dropped) run_pass(size, size.cells[index], round, tallies[index]);
      progress_.step(weight_of(size));
    }
  }

  void run_pass(const column& size, const cell& the_case, int round, tally& into) {
    progress_.show(fmt::format("{} {}", the_case.row, size.label));
    try {
      if (!the_case.reads) prepare_target(folder_, size, chosen_);
      if (size.has_source && chosen_.cache == cache_mode::drop_source) drop_from_cache(folder_.source());
      pass the_pass(folder_.target(), folder_.source(), chosen_.file);
      the_pass.begin();
      the_case.run(the_pass);
      if (chosen_.sync == sync_mode::fdatasync && !the_case.reads) sync_target(the_pass);
      if (std::string wrong = check(the_case, size, the_pass); !wrong.empty()) throw std::runtime_error("verification failed: " + wrong);
      for (clock_kind clock : all_clocks) {
        const auto time = the_pass.reading(clock);
        if (!time) continue;
        const auto value = static_cast<double>(time->count());
        if (round < 0) {
          into.first[clock] = value;
        } else {
          into.values[clock].push_back(value);
        }
      }
    } catch (const unavailable& reason) {
      into.dropped = true;
      note(fmt::format("{}: not available here: {}", the_case.row, reason.what()));
    } catch (const std::exception& error) {
      into.dropped = true;
      result_.failures.push_back(fmt::format("{} {}: {}; the row is dropped", the_case.row, size.label, error.what()));
      progress_.clear();
      std::fprintf(stderr, "penstock: bench %s: %s\n", result_.what.name.c_str(), result_.failures.back().c_str());
    }
  }

  void note(const std::string& text) {
    if (std::find(result_.notes.begin(), result_.notes.end(), text) == result_.notes.end()) result_.notes.push_back(text);
  }

  void keep(const column& size, const cell& the_case, const tally& from) {
    if (from.dropped) return;
    for (const auto& [clock, times_ns] : from.values) {
      const bool rate = result_.what.rate && clock != clock_kind::setup;  // a set-up time is no rate of anything
      const auto in_unit = [&](double time_ns) { return rate ? static_cast<double>(size.bytes) / time_ns * 1e9 : time_ns / 1e6; };
      std::vector<double> values;
      for (double time_ns : times_ns) values.push_back(in_unit(time_ns));
      figures row{.row = the_case.row, .kind = the_case.kind, .size = size.label, .clock = clock};
      row.unit = clock == clock_kind::setup ? "ms" : result_.what.unit;
      row.values = summarise(std::move(values));
      if (const auto first = from.first.find(clock); first != from.first.end()) row.first = in_unit(first->second);
      row.short_passes = summarise(times_ns).median < 1e6;
      result_.rows.push_back(std::move(row));
    }
  }

  const options& chosen_;
  scratch_folder folder_;
  progress progress_;
  machine_speed speed_;
  suite_result result_;
};

}  // namespace

std::string_view text(row_kind kind) noexcept {
  switch (kind) {
    case row_kind::post:
      return "the post's rows, in C++";
    case row_kind::generation:
      return "with the data made inside the clock";
    case row_kind::other:
      return "other ways";
    case row_kind::sink:
      return "Penstock's sinks";
    case row_kind::logger:
      return "Penstock's logger";
  }
  return "?";
}

const figures* suite_result::find(std::string_view row, std::string_view size, clock_kind clock) const noexcept {
  for (const figures& one : rows)
    if (one.published.empty() && one.row == row && one.size == size && one.clock == clock) return &one;
  return nullptr;
}

suite_result run(suite what, const options& chosen) {
  std::uint64_t largest_bytes = 0;
  for (const column& size : what.columns) largest_bytes = std::max(largest_bytes, size.bytes * (size.has_source ? 2 : 1));
  require_space(chosen.dir, largest_bytes + (std::uintmax_t{64} << 20), ("bench " + what.name).c_str());
  return runner(std::move(what), chosen).run();
}

}  // namespace penstock::bench
