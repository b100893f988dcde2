// SPDX-License-Identifier: MIT
#include "bench/suites/meaning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/suites/sink_rows.hpp"

namespace penstock::bench {
namespace {

// A figure that a sentence needs and the run does not have.
struct missing {};

class reader {
 public:
  explicit reader(const suite_result& result) : result_(result) {}

  double at(std::string_view row, std::string_view size, clock_kind clock = clock_kind::close) const {
    const figures* found = result_.find(row, size, clock);
    if (found == nullptr || found->values.median <= 0) throw missing{};
    return shown_value(*found, found->values.median);
  }
  /// The best row of a size by the close clock, among those that `wanted` takes.
  template <class Wanted>
  std::string best(std::string_view size, Wanted wanted) const {
    const figures* found = nullptr;
    for (const figures& one : result_.rows) {
      if (!one.published.empty() || one.size != size || one.clock != clock_kind::close || !wanted(one)) continue;
      const bool better =
          found == nullptr || (result_.what.rate ? one.values.median > found->values.median : one.values.median < found->values.median);
      if (better) found = &one;
    }
    if (found == nullptr) throw missing{};
    return found->row;
  }
  const std::string& first_size() const { return result_.what.columns.front().label; }
  const std::string& last_size() const { return result_.what.columns.back().label; }
  const std::vector<column>& sizes() const { return result_.what.columns; }

 private:
  const suite_result& result_;
};

std::string times(double ratio) { return fmt::format("{:.1f}", ratio); }

// "1.4 times as long as", whichever way round it is.
std::string compared(double a, double b) {
  if (std::fabs(a / b - 1) < 0.15) return "about as long as";
  return a > b ? times(a / b) + " times as long as" : "1/" + times(b / a) + " of the time of";
}

bool is_ring(const figures& row) { return row.row.find("mmap_ring") != std::string::npos; }

std::string japm_writers(const reader& read) {
  double least = INFINITY;
  double greatest = 0;
  for (const column& size : read.sizes()) {
    const double ratio = read.at("write(2) per record", size.label) / read.at("sink write 256 KiB", size.label);
    least = std::min(least, ratio);
    greatest = std::max(greatest, ratio);
  }
  const auto keeps_all = [](const figures& row) { return row.kind == row_kind::sink && !is_ring(row); };
  const std::string best = read.best(read.last_size(), keeps_all);
  return fmt::format(
      "Writing each record with write(2) takes {} to {} times as long as 256 KiB batches through the write sink, until the file is "
      "closed; at {} the fastest sink that keeps the whole log is \"{}\" with {} ms.",
      times(least), times(greatest), read.last_size(), best, three_digits(read.at(best, read.last_size())));
}

std::string japm_post(const reader& read) {
  const std::string& size = read.last_size();
  const double here = read.at("FileChannel", size, clock_kind::ret) / read.at("FileOutputStream", size, clock_kind::ret);
  const double reuse = read.at("FileChannel + Byte Buffer 재사용", size, clock_kind::ret) / read.at("FileChannel", size, clock_kind::ret);
  return fmt::format(
      "Of the post's verdicts, FileChannel costs {} times FileOutputStream at {} here (2.7 at 50K in the post), and its reused buffer, "
      "which is 1 000 bytes long, costs {} times a whole record at once.",
      times(here), size, times(reuse));
}

std::string copy_api(const reader& read) {
  const std::string& size = read.first_size();
  const std::string best = read.best(size, [](const figures& row) { return !is_ring(row); });
  return fmt::format("The fastest copy is \"{}\" with {} ms; reading and writing through 64 KiB takes {} it.", best,
                     three_digits(read.at(best, size)), compared(read.at("read/write 64 KiB", size), read.at(best, size)));
}

std::string copy_bytes(const reader& read) {
  const std::string& size = read.first_size();
  return fmt::format(
      "Copying byte by byte (`io`) takes {} the same system calls without the loop (`scatterGather`), where the post saw 21 times.",
      compared(read.at("io", size), read.at("scatterGather", size)));
}

std::string buffer_sizes(const reader& read) {
  const std::string& size = read.first_size();
  double least = INFINITY;
  double greatest = 0;
  for (const char* row : {"32K", "64K", "256K", "1M"}) {
    least = std::min(least, read.at(row, size));
    greatest = std::max(greatest, read.at(row, size));
  }
  return fmt::format("A buffer of 4K takes {} one of 32K; from 32K to 1M the times lie between {} and {} ms.",
                     compared(read.at("4K", size), read.at("32K", size)), three_digits(least), three_digits(greatest));
}

std::string buffer_whole(const reader& read) {
  const std::string& size = read.first_size();
  const double allocated = read.at("100MB", size, clock_kind::setup);
  const double copied = read.at("100MB", size);
  const double small = read.at("32K", size);
  return fmt::format(
      "A buffer as large as the file costs {} ms before the first byte is read and {} ms for the copy, against {} ms with 32K: {}.",
      three_digits(allocated), three_digits(copied), three_digits(small),
      allocated + copied > small ? "its size buys nothing" : "here its size pays");
}

std::string mapped_one(const reader& read, const char* what, const char* mapped, const char* stream, const char* batched) {
  const std::string& size = read.last_size();
  return fmt::format("For {} {} ints, the mapping takes {} a call for each int, and {} system calls of 64 KiB.", what, size,
                     compared(read.at(mapped, size), read.at(stream, size)), compared(read.at(mapped, size), read.at(batched, size)));
}

std::string sequential_io(const reader& read) {
  const std::string size = read.sizes().size() > 1 ? read.sizes()[read.sizes().size() - 2].label : read.first_size();
  const std::string best = read.best(size, [](const figures& row) {
    return row.kind != row_kind::generation && row.row.find("read") == std::string::npos && !is_ring(row) &&
           row.row.find("POPULATE") == std::string::npos;  // it pays in `setup`
  });
  return fmt::format(
      "At {} the fastest writer that prepares nothing is \"{}\" with {} MB/s; the post's RandomAccessFile loop reaches {} and its "
      "byte-by-byte stream {}.",
      size, best, three_digits(read.at(best, size)), three_digits(read.at("RandomAccessFile JDK1.0 write", size)),
      three_digits(read.at("BufferedStreamFile JDK 1.0 write", size)));
}

std::string sequential_generation(const reader& read) {
  const std::string size = read.sizes().size() > 1 ? read.sizes()[read.sizes().size() - 2].label : read.first_size();
  return fmt::format(
      "Making the bytes inside the clock, as the post did, brings RandomAccessFile from {} to {} MB/s; the loop alone, without any I/O, "
      "makes {} MB/s.",
      three_digits(read.at("RandomAccessFile JDK1.0 write", size)),
      three_digits(read.at("RandomAccessFile JDK1.0 write + generation", size)), three_digits(read.at("gen only (no I/O) write", size)));
}

template <class Make>
void add(std::vector<std::string>& into, Make make) {
  try {
    into.push_back(make());
  } catch (missing) {
    into.emplace_back("A sentence is missing here, because a row that it needs is missing.");
  }
}

}  // namespace

std::vector<std::string> meaning_of(const suite_result& result) {
  const reader read(result);
  const std::string& name = result.what.name;
  std::vector<std::string> out;
  if (name == "japm") {
    add(out, [&] { return japm_writers(read); });
    add(out, [&] { return japm_post(read); });
  } else if (name == "copy") {
    add(out, [&] { return copy_api(read); });
    add(out, [&] { return copy_bytes(read); });
  } else if (name == "buffer") {
    add(out, [&] { return buffer_sizes(read); });
    add(out, [&] { return buffer_whole(read); });
  } else if (name == "mapped") {
    add(out, [&] { return mapped_one(read, "writing", "Memory-mapped File Write", "Stream Write", "write(2) 64 KiB"); });
    add(out, [&] { return mapped_one(read, "reading", "Memory-mapped File Read", "Stream Read", "read(2) 64 KiB"); });
  } else if (name == "sequential") {
    add(out, [&] { return sequential_io(read); });
    add(out, [&] { return sequential_generation(read); });
  }
  return out;
}

std::vector<std::string> meaning_of(const std::vector<sweep_row>& rows) {
  const auto rate = [](const sweep_row& row) { return summarise(row.mb_per_s).median; };
  const sweep_row* best = nullptr;
  const sweep_row* cheapest = nullptr;
  for (const sweep_row& row : rows) {
    if (row.passes == 0 || !row.problem.empty() || row.choice.type == "mmap_ring") continue;
    if (best == nullptr || rate(row) > rate(*best)) best = &row;
    if (cheapest == nullptr || summarise(row.cpu_s_per_gb).median < summarise(cheapest->cpu_s_per_gb).median) cheapest = &row;
  }
  if (best == nullptr) return {"Nothing was measured."};
  std::vector<double> waits = best->hand_over_us;
  std::sort(waits.begin(), waits.end());
  return {
      fmt::format(
          "Of the sinks that keep the whole log, {} is the fastest with {} MB/s; a hand-over of a batch takes it {} us as a rule and {} us "
          "one time in a thousand.",
          best->choice.name(), three_digits(rate(*best)), three_digits(percentile(waits, 0.5)), three_digits(percentile(waits, 0.999))),
      fmt::format("The least CPU is used by {}: {} s for each GB, at {} MB/s.", cheapest->choice.name(),
                  three_digits(summarise(cheapest->cpu_s_per_gb).median), three_digits(rate(*cheapest)))};
}

}  // namespace penstock::bench
