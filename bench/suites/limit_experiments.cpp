// SPDX-License-Identifier: MIT
// The nineteen ratios: which loops each is made of, and what it should be. The targets are what loops written by hand reached on the
// machine that they were found on, less a little for what a sink must do besides (docs/benchmarks.md).
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/falloc.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <system_error>

#include "bench/suites/limits.hpp"
#include "bench/suites/pass.hpp"
#include "bench/suites/raw_io.hpp"
#include "lib/os/file.hpp"

namespace penstock::bench {
namespace {

using runs = std::vector<loop_run>;
using named_loop = limit_experiment::named_loop;

constexpr std::size_t quarter_mib = std::size_t{256} << 10;
constexpr std::size_t one_mib = std::size_t{1} << 20;
constexpr limit_target at_least(double value) { return {.value = value}; }
constexpr limit_target at_most(double value) { return {.value = value, .at_most = true}; }

/// A file that is gone again.
os::descriptor probe_file(const std::filesystem::path& file) {
  os::descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0640));
  if (!fd.valid()) fail("cannot make", file);
  ::unlink(file.c_str());
  return fd;
}

void require_dont_cache(const std::filesystem::path& file) {
  const os::descriptor fd = probe_file(file);
  std::byte one{'x'};
  const iovec piece{&one, 1};
  if (::pwritev2(fd.get(), &piece, 1, 0, os::write_dont_cache) != 1)
    throw unavailable("this kernel or file system has no RWF_DONTCACHE: " + std::generic_category().message(errno));
}

void require_allocation(const std::filesystem::path& file) {
  const os::descriptor fd = probe_file(file);
  if (::fallocate(fd.get(), FALLOC_FL_KEEP_SIZE, 0, 1 << 20) != 0)
    throw unavailable("this file system cannot allocate ahead: " + std::generic_category().message(errno));
}

double rate_of(const runs& all, std::size_t ours, std::size_t theirs) {
  return all[ours].bytes_per_second() / all[theirs].bytes_per_second();
}

/// Makes the experiments of one run.
class catalogue {
 public:
  catalogue(const limit_options& chosen, std::filesystem::path file)
      : file_(std::move(file)), bytes_(chosen.bytes), ring_bytes_(std::max<std::size_t>(chosen.bytes, 4 * one_mib) / one_mib * one_mib) {}

  std::vector<limit_experiment> all() const {
    return {machine(),   append(),       preallocated(), line_copy(),   line_copy_append(), ring(),        uring_buffered(), uring_lines(),
            uring_big(), uring_direct(), sustained(),    stdio_lines(), stdio_block(),      paced_uring(), paced_blocking(), stall()};
  }

 private:
  loop_size size(std::size_t batch_bytes, std::uint64_t times = 1) const {
    return {.file = file_, .bytes = bytes_ * times, .batch_bytes = batch_bytes};
  }
  sink_config settings(std::string type, std::size_t batch_bytes, page_cache_policy cache = page_cache_policy::keep) const {
    sink_config made;
    made.type = std::move(type);
    made.path = file_;
    made.batch_size = batch_bytes;
    made.page_cache = cache;
    made.reopen = false;
    made.strict = made.type == "io_uring";
    if (made.type == "mmap_ring") made.size = ring_bytes_;
    return made;
  }
  named_loop through(std::string name, const sink_config& to, sink_way way = {}, std::uint64_t times = 1) const {
    return {.name = std::move(name), .run = [to, way, bytes = bytes_ * times] { return run_sink(to, bytes, way); }};
  }
  static named_loop raw(std::string name, const loop_size& size, raw_way way) {
    return {.name = std::move(name), .run = [size, way] { return run_raw(size, way); }};
  }
  named_loop w_append() const { return raw("W: write, O_APPEND, 256 KiB", size(quarter_mib), {.append = true}); }
  named_loop w_allocated() const { return raw("W: pwrite, allocated ahead, 256 KiB", size(quarter_mib), {.allocate = true}); }
  named_loop m_lines() const {
    return {.name = "M: lines of 120 bytes into memory", .run = [s = size(quarter_mib, 4)] { return run_lines_in_memory(s, false); }};
  }
  /// Sets the pace of the paced experiments: a quarter of what O_DIRECT reaches.
  std::function<void()> find_pace() const {
    return [s = size(one_mib), pace = pace_] { *pace = run_raw(s, {.allocate = true, .direct = true}).bytes_per_second() / 4; };
  }
  named_loop lines_through(std::string name, const sink_config& to, std::uint64_t times = 1) const {
    return through(std::move(name), to, {.of = feed::lines}, times);
  }

  limit_experiment machine() const;
  limit_experiment append() const;
  limit_experiment preallocated() const;
  limit_experiment line_copy() const;
  limit_experiment line_copy_append() const;
  limit_experiment ring() const;
  limit_experiment uring_buffered() const;
  limit_experiment uring_lines() const;
  limit_experiment uring_big() const;
  limit_experiment uring_direct() const;
  limit_experiment sustained() const;
  limit_experiment stdio_lines() const;
  limit_experiment stdio_block() const;
  limit_experiment paced_uring() const;
  limit_experiment paced_blocking() const;
  limit_experiment stall() const;

  std::filesystem::path file_;
  std::uint64_t bytes_;
  std::size_t ring_bytes_;
  std::shared_ptr<double> pace_ = std::make_shared<double>(0);
};

limit_experiment catalogue::machine() const {
  return {.loops = {m_lines(),
                    {"M: lines of 40 to 400 bytes into memory", [s = size(quarter_mib, 4)] { return run_lines_in_memory(s, true); }},
                    raw("C: pwrite over cached pages, 256 KiB", size(quarter_mib), {.overwrite = true}),
                    raw("W: pwrite, 64 KiB", size(quarter_mib / 4), {})}};
}

limit_experiment catalogue::append() const {
  return {.loops = {through("write, ready batches, 256 KiB", settings("write", quarter_mib)), w_append()},
          .ratios = {{.number = 1, .what = "write: ready batches / W", .target = at_least(0.98), .from = [](const runs& r) {
                        return rate_of(r, 0, 1);
                      }}}};
}

limit_experiment catalogue::preallocated() const {
  return {.loops = {through("pwrite, ready batches, 256 KiB", settings("pwrite", quarter_mib)), w_allocated(),
                    raw("W: pwrite, 256 KiB", size(quarter_mib), {})},
          .ratios = {{.number = 1,
                      .what = "pwrite: ready batches / W, allocated ahead both",
                      .target = at_least(0.98),
                      .from = [](const runs& r) { return rate_of(r, 0, 1); }},
                     {.number = 5,
                      .what = "pwrite, which allocates ahead / W, which does not",
                      .target = at_least(1.12),
                      .from = [](const runs& r) { return rate_of(r, 0, 2); }}},
          .prepare = [file = file_] { require_allocation(file); }};
}

limit_experiment catalogue::line_copy() const {
  return {.loops = {lines_through("pwrite, lines, 256 KiB", settings("pwrite", quarter_mib)), w_allocated(), m_lines()},
          .ratios = {
              {.number = 2,
               .what = "pwrite: line copy and pwrite / W",
               .target = at_least(0.80),
               .from = [](const runs& r) { return rate_of(r, 0, 1); }},
              {.number = 2,
               .what = "pwrite: the same / the bound 1/(1+W/M)",
               .target = at_least(0.95),
               .from = [](const runs& r) { return rate_of(r, 0, 1) * (1 + rate_of(r, 1, 2)); }},
              {.number = 4, .what = "pwrite: CPU of the thread beyond W's / CPU of M", .target = at_most(1.3), .from = [](const runs& r) {
                 return (r[0].thread_cpu_per_gb() - r[1].thread_cpu_per_gb()) / r[2].thread_cpu_per_gb();
               }}}};
}

limit_experiment catalogue::line_copy_append() const {
  return {.loops = {lines_through("write, lines, 256 KiB", settings("write", quarter_mib)), w_append(),
                    lines_through("mmap_ring, lines, 256 KiB", settings("mmap_ring", quarter_mib), 4)},
          .ratios = {{.number = 2,
                      .what = "write, which cuts at lines: line copy and write / W",
                      .target = at_least(0.75),
                      .from = [](const runs& r) { return rate_of(r, 0, 1); }},
                     {.number = 7,
                      .what = "mmap_ring: lines in place / write: line copy and write",
                      .target = at_least(1.9),
                      .from = [](const runs& r) { return rate_of(r, 2, 0); }}}};
}

limit_experiment catalogue::ring() const {
  return {
      .loops = {lines_through("mmap_ring, lines, 64 KiB", settings("mmap_ring", quarter_mib / 4), 4),
                {"X: 64 KiB into a populated mapping",
                 [s = size(quarter_mib, 4), ring = ring_bytes_] { return run_copy_to_mapping(s, ring, false); }},
                lines_through("mmap_ring, lines, 256 KiB", settings("mmap_ring", quarter_mib), 4),
                {"X by streaming stores", [s = size(quarter_mib, 4), ring = ring_bytes_] { return run_copy_to_mapping(s, ring, true); }}},
      .ratios = {{.number = 6,
                  .what = "mmap_ring: lines in place, 64 KiB / X",
                  .target = at_least(0.88),
                  .from = [](const runs& r) { return rate_of(r, 0, 1); }},
                 {.number = 6,
                  .what = "mmap_ring: lines in place, 256 KiB / X",
                  .target = at_least(0.88),
                  .from = [](const runs& r) { return rate_of(r, 2, 1); }},
                 {.number = 8,
                  .what = "mmap_ring: a batch copied by streaming stores / X",
                  .target = at_least(1.5),
                  .reason = "the ring copies no batches: lines are laid out in the mapping"},
                 {.number = 8, .what = "the raw loop: X by streaming stores / X", .from = [](const runs& r) { return rate_of(r, 3, 1); }}}};
}

limit_experiment catalogue::uring_buffered() const {
  return {.loops = {through("io_uring, ready batches, 256 KiB", settings("io_uring", quarter_mib)), w_allocated()},
          .ratios = {{.number = 9,
                      .what = "io_uring: ready batches / W",
                      .target = at_least(0.80),
                      .from = [](const runs& r) { return rate_of(r, 0, 1); }},
                     {.number = 10,
                      .what = "io_uring, 256 KiB: CPU of the backend's thread / T(W)",
                      .target = at_most(0.10),
                      .from = [](const runs& r) { return r[0].thread_cpu_per_gb() / r[1].thread_cpu_per_gb(); }},
                     {.number = 11, .what = "io_uring: CPU of the process / T(W)", .target = at_most(1.4), .from = [](const runs& r) {
                        return r[0].process_cpu_per_gb() / r[1].thread_cpu_per_gb();
                      }}}};
}

limit_experiment catalogue::uring_lines() const {
  return {.loops = {lines_through("io_uring, lines, 256 KiB", settings("io_uring", quarter_mib)), w_allocated()},
          .ratios = {{.number = 3,
                      .what = "io_uring: lines laid out in a batch while others are written / W",
                      .target = at_least(0.96),
                      .from = [](const runs& r) { return rate_of(r, 0, 1); }}}};
}

limit_experiment catalogue::uring_big() const {
  return {.loops = {through("io_uring, ready batches, 1 MiB", settings("io_uring", one_mib)),
                    raw("W: pwrite, allocated ahead, 1 MiB", size(one_mib), {.allocate = true})},
          .ratios = {{.number = 10,
                      .what = "io_uring, 1 MiB: CPU of the backend's thread / T(W)",
                      .target = at_most(0.04),
                      .from = [](const runs& r) { return r[0].thread_cpu_per_gb() / r[1].thread_cpu_per_gb(); }}},
          .invalid = [](const runs& r) {
            // Large folios that the machine has to fetch from its host first make W two machines in one.
            const double spread = r[1].call_percentile_us(0.9) / r[1].call_percentile_us(0.1);
            return spread < 2 ? std::string() : fmt::format("W's own calls differ by p90/p10 = {:.1f} (cold memory)", spread);
          }};
}

limit_experiment catalogue::uring_direct() const {
  return {.loops = {through("io_uring, direct, 1 MiB", settings("io_uring", one_mib, page_cache_policy::direct)),
                    {"D: io_uring, four in flight, 1 MiB", [s = size(one_mib)] { return run_raw_direct_uring(s); }},
                    raw("D: pwrite, 1 MiB", size(one_mib), {.allocate = true, .direct = true}),
                    w_allocated()},
          .ratios = {{.number = 12,
                      .what = "io_uring, direct / D by io_uring, in no order",
                      .target = at_least(0.97),
                      .from = [](const runs& r) { return rate_of(r, 0, 1); }},
                     {.number = 12,
                      .what = "io_uring, direct / D by pwrite",
                      .target = at_least(0.97),
                      .from = [](const runs& r) { return rate_of(r, 0, 2); }},
                     {.number = 13,
                      .what = "io_uring, direct, allocated ahead: CPU of the process / T(W)",
                      .target = at_most(0.35),
                      .from = [](const runs& r) { return r[0].process_cpu_per_gb() / r[3].thread_cpu_per_gb(); }},
                     {.number = 13,
                      .what = "io_uring, direct, over a recycled file: CPU of the process / T(W)",
                      .target = at_most(0.10),
                      .reason = "no sink writes over an old file: a reader would take its rest for the log"}}};
}

limit_experiment catalogue::sustained() const {
  const sink_way watched{.watch_page_cache = true};
  const auto mib = [](std::size_t which) {
    return [which](const runs& r) { return static_cast<double>(r[which].resident_bytes_max) / static_cast<double>(one_mib); };
  };
  return {
      .loops = {through("pwrite, drop, 1 MiB, sustained", settings("pwrite", one_mib, page_cache_policy::drop), watched, 16),
                raw("W: pwrite, allocated ahead, 256 KiB, sustained", size(quarter_mib, 16), {.allocate = true}),
                raw("D: pwrite, 1 MiB, sustained", size(one_mib, 16), {.allocate = true, .direct = true}),
                through("pwrite, direct, 1 MiB, sustained", settings("pwrite", one_mib, page_cache_policy::direct), watched, 16)},
      .ratios =
          {{.number = 14,
            .what = "pwrite, drop, sustained / the slower of W and D",
            .target = at_least(0.95),
            .from = [](const runs& r) { return r[0].bytes_per_second() / std::min(r[1].bytes_per_second(), r[2].bytes_per_second()); }},
           {.number = 14, .what = "pwrite, drop: most of its file in the page cache", .target = at_most(64), .from = mib(0), .unit = "MiB"},
           {.number = 14,
            .what = "pwrite, direct: most of its file in the page cache",
            .target = at_most(64),
            .from = mib(3),
            .unit = "MiB"}},
      .prepare = [file = file_] { require_dont_cache(file); }};
}

limit_experiment catalogue::stdio_lines() const {
  return {.loops = {lines_through("stdio, lines, 256 KiB", settings("stdio", quarter_mib)), w_append()},
          .ratios = {{.number = 15, .what = "stdio: lines / W", .target = at_least(0.68), .from = [](const runs& r) {
                        return rate_of(r, 0, 1);
                      }}}};
}

limit_experiment catalogue::stdio_block() const {
  return {.loops = {through("stdio, ready batches, 256 KiB", settings("stdio", quarter_mib)), w_append()},
          .ratios = {{.number = 16, .what = "stdio: ready batches / W", .target = at_least(0.90), .from = [](const runs& r) {
                        return rate_of(r, 0, 1);
                      }}}};
}

limit_experiment catalogue::paced_uring() const {
  const auto paced = [this](std::string type, page_cache_policy cache = page_cache_policy::keep) {
    return [to = settings(std::move(type), one_mib, cache), bytes = bytes_ * 2, pace = pace_] {
      return run_sink(to, bytes, {.bytes_per_second = *pace, .watch_call_cpu = true});
    };
  };
  const auto ratio_at = [](double fraction) {
    return [fraction](const runs& r) { return r[0].call_percentile_us(fraction) / r[1].call_percentile_us(fraction); };
  };
  const auto cpu_of_calls = [](const runs& r) {
    const auto per_byte = [](const loop_run& run) { return run.call_cpu_seconds / static_cast<double>(run.bytes); };
    return per_byte(r[2]) / per_byte(r[1]);
  };
  return {.loops = {{"io_uring, a quarter of D, 1 MiB", paced("io_uring")},
                    {"write, a quarter of D, 1 MiB", paced("write")},
                    {"io_uring, direct, a quarter of D, 1 MiB", paced("io_uring", page_cache_policy::direct)}},
          .ratios = {{.number = 17,
                      .what = "at a quarter of D, 1 MiB, hand-over p50: io_uring / write",
                      .target = at_most(0.03),
                      .from = ratio_at(0.5)},
                     {.number = 17, .what = "the same, p99", .from = ratio_at(0.99)},
                     {.number = 17,
                      .what = "at a quarter of D, 1 MiB, CPU of handing over: io_uring, direct / write",
                      .target = at_most(0.10),
                      .from = cpu_of_calls}},
          .prepare = find_pace()};
}

limit_experiment catalogue::paced_blocking() const {
  const auto paced = [this](const sink_config& to) {
    return [to, bytes = bytes_ * 4, pace = pace_] { return run_sink(to, bytes, {.bytes_per_second = *pace}); };
  };
  const auto tail_of = [](std::size_t which) {
    return [which](const runs& r) { return r[which].call_percentile_us(0.999) / r[which].call_percentile_us(0.5); };
  };
  return {.loops = {{"pwrite, a quarter of D, 256 KiB", paced(settings("pwrite", quarter_mib))},
                    {"pwrite, drop, a quarter of D, 1 MiB", paced(settings("pwrite", one_mib, page_cache_policy::drop))}},
          .ratios =
              {{.number = 18, .what = "at a quarter of D, hand-over p99.9 / p50: pwrite", .target = at_most(4), .from = tail_of(0)},
               {.number = 18, .what = "at a quarter of D, hand-over p99.9 / p50: pwrite, drop", .target = at_most(4), .from = tail_of(1)}},
          .prepare = [file = file_, find = find_pace()] {
            require_dont_cache(file);
            find();
          }};
}

limit_experiment catalogue::stall() const {
  constexpr int stall_ms = 50;
  // A burst that fits into 64 MiB with its record headers.
  const std::uint64_t burst_bytes = std::min<std::uint64_t>(bytes_ / 8, std::uint64_t{32} << 20);
  const auto burst = [file = file_, burst_bytes](int ms) {
    return [file, burst_bytes, ms] { return run_stalled_logger(file, burst_bytes, ms); };
  };
  return {.loops = {{"logger, 64 MiB, a burst while the disk stalls 50 ms", burst(stall_ms)}, {"logger, 64 MiB, a burst", burst(0)}},
          .ratios = {{.number = 19,
                      .what = "logger: a burst while the disk stalls 50 ms / the same without",
                      .target = at_least(0.99),
                      .from = [](const runs& r) { return rate_of(r, 0, 1); }}}};
}

}  // namespace

std::vector<limit_experiment> limit_experiments(const limit_options& chosen, const std::filesystem::path& file) {
  std::vector<limit_experiment> experiments = catalogue(chosen, file).all();
  if (chosen.rows.empty()) return experiments;
  for (limit_experiment& one : experiments)
    std::erase_if(one.ratios, [&](const limit_ratio& ratio) { return !chosen.rows.contains(ratio.number); });
  std::erase_if(experiments, [](const limit_experiment& one) { return one.ratios.empty(); });
  return experiments;
}

}  // namespace penstock::bench
