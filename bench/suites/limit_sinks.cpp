// SPDX-License-Identifier: MIT
// The loops through our sinks, and the one through the whole logger.
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <penstock/penstock.hpp>

#include "bench/suites/limit_clock.hpp"
#include "bench/suites/limit_content.hpp"
#include "bench/suites/raw_io.hpp"
#include "bench/suites/sink_rows.hpp"
#include "lib/os/mapping.hpp"
#include "sinks/factory.hpp"

namespace penstock::bench {
namespace {

constexpr std::uint64_t look_bytes = std::uint64_t{32} << 20;

std::unique_ptr<sink> open_new_sink(const sink_config& settings) {
  ::unlink(settings.path.c_str());
  std::unique_ptr<sink> made;
  try {
    made = sinks::make_sink(settings);
  } catch (const std::exception& error) {
    throw unavailable(error.what());
  }
  const sink_description what = made->describe();
  if (!what.fallback.empty()) throw unavailable(what.fallback);
  if (!what.note.empty()) throw unavailable(what.note);
  return made;
}

/// Lays lines out as the backend does: to the last byte of the room where the sink cuts at pages, whole ones where it cuts at lines.
class line_feeder {
 public:
  std::size_t fill(std::span<std::byte> room, cut end) noexcept {
    std::byte* at = room.data();
    std::byte* const stop = at + room.size();
    if (done_bytes_ != 0) {
      const std::size_t bytes = std::min(hot_lines::line_bytes - done_bytes_, room.size());
      std::memcpy(at, lines_.line(next_) + done_bytes_, bytes);
      at += bytes;
      done_bytes_ += bytes;
      if (done_bytes_ == hot_lines::line_bytes) line_is_done();
    }
    for (; static_cast<std::size_t>(stop - at) >= hot_lines::line_bytes; at += hot_lines::line_bytes) {
      std::memcpy(at, source_, hot_lines::line_bytes);
      line_is_done();
    }
    if (end == cut::pages && at != stop) {
      done_bytes_ = static_cast<std::size_t>(stop - at);
      std::memcpy(at, source_, done_bytes_);
      at = stop;
    }
    return static_cast<std::size_t>(at - room.data());
  }

 private:
  void line_is_done() noexcept {
    done_bytes_ = 0;
    next_ = (next_ + 1) % hot_lines::line_count;
    source_ = lines_.line(next_);
  }

  const hot_lines& lines_ = hot_lines::instance();
  std::uint64_t next_ = 0;
  const std::byte* source_ = lines_.line(0);
  std::size_t done_bytes_ = 0;  ///< of line `next_`
};

/// Fills the rooms of a sink: with lines, or with a content that stays in them.
class room_feeder {
 public:
  room_feeder(feed of, std::size_t batch_bytes) noexcept : of_(of), batch_bytes_(batch_bytes) {}

  std::size_t fill(std::span<std::byte> room, cut end, std::uint64_t number) {
    if (of_ == feed::lines) return lines_.fill(room, end);
    if (room.size() != batch_bytes_) throw std::runtime_error("the sink lends another room than a batch: a ready batch does not fit");
    if (std::ranges::find(filled_, room.data()) == filled_.end()) {
      fill_batch(room);
      filled_.push_back(room.data());
    }
    number_batch(room.data(), number);
    return room.size();
  }

 private:
  feed of_;
  std::size_t batch_bytes_;
  line_feeder lines_{};
  std::vector<const std::byte*> filled_{};
};

/// Lets batches become due at a pace.
class pacer {
 public:
  explicit pacer(double seconds_each) noexcept : step_(static_cast<std::int64_t>(seconds_each * 1e9)) {}
  void wait() noexcept {
    if (step_.count() == 0) return;
    std::this_thread::sleep_until(due_);
    due_ += step_;
  }

 private:
  std::chrono::nanoseconds step_;
  std::chrono::steady_clock::time_point due_ = std::chrono::steady_clock::now();
};

void check(const sink_config& settings, feed of, std::size_t batch_bytes, std::uint64_t batches, std::uint64_t bytes) {
  if (settings.type == "mmap_ring") {
    const column lines{.label = {}, .bytes = bytes, .expected = {}, .stream = [](std::uint64_t offset, std::size_t most) {
                         return hot_lines::instance().piece(offset, most);
                       }};
    if (const std::string wrong = check_ring(settings.path, lines); !wrong.empty())
      throw std::runtime_error("verification failed: " + wrong);
  } else if (of == feed::lines) {
    check_lines(settings.path, bytes);
  } else {
    check_batches(settings.path, batch_bytes, batches);
  }
}

// A `write` sink whose disk stands still at its first batch.
std::atomic<int> stall_ms_wanted{0};
constexpr std::string_view stalled_type = "limits_stalled_write";

class stalled_sink final : public sink {
 public:
  explicit stalled_sink(std::unique_ptr<sink> inside) : inside_(std::move(inside)) {}
  batch lend(lend_request request) noexcept override { return inside_->lend(request); }
  outcome submit(std::size_t used_bytes) noexcept override {
    if (used_bytes != 0)
      if (const int ms = stall_ms_wanted.exchange(0); ms != 0) std::this_thread::sleep_for(std::chrono::milliseconds(ms));
    return inside_->submit(used_bytes);
  }
  outcome resume() noexcept override { return inside_->resume(); }
  std::size_t abandon() noexcept override { return inside_->abandon(); }
  outcome flush() noexcept override { return inside_->flush(); }
  outcome sync() noexcept override { return inside_->sync(); }
  outcome reopen() noexcept override { return inside_->reopen(); }
  outcome maintain() noexcept override { return inside_->maintain(); }
  std::unique_ptr<sink> retire() noexcept override { return inside_->retire(); }
  void disown_after_fork() noexcept override { inside_->disown_after_fork(); }
  sink_description describe() const override { return inside_->describe(); }

 private:
  std::unique_ptr<sink> inside_;
};

}  // namespace

loop_run run_lines_in_memory(const loop_size& size, bool mixed) {
  buffer batch(size.batch_bytes);
  const std::uint64_t batches = std::max<std::uint64_t>(size.bytes / size.batch_bytes, 4);
  limit_clock clock(batches);
  std::uint64_t bytes = 0;
  if (!mixed) {
    line_feeder lines;
    for (std::uint64_t number = 0; number < warm_up_batches; ++number) static_cast<void>(lines.fill(batch.span(), cut::lines));
    clock.start();
    for (std::uint64_t number = 0; number < batches; ++number) {
      bytes += lines.fill(batch.span(), cut::lines);
      // The compiler must not take the copies for useless.
      asm volatile("" : : "r"(batch.data()) : "memory");
    }
    return clock.stop(bytes);
  }
  constexpr std::size_t line_bytes_min = 40;
  constexpr std::size_t line_bytes_max = 400;
  const std::span<const std::byte> source = hot_lines::instance().piece(0, hot_lines::period_bytes);
  clock.start();
  std::size_t line_bytes = line_bytes_min;
  for (std::uint64_t number = 0; number < batches; ++number) {
    std::size_t at = 0;
    while (at + line_bytes <= batch.size()) {
      std::memcpy(batch.data() + at, source.data() + line_bytes, line_bytes);
      at += line_bytes;
      line_bytes = line_bytes_min + (line_bytes * 7 + 61) % (line_bytes_max - line_bytes_min);
    }
    bytes += at;
    asm volatile("" : : "r"(batch.data()) : "memory");
  }
  return clock.stop(bytes);
}

loop_run run_sink(const sink_config& settings, std::uint64_t bytes, const sink_way& way) {
  const std::size_t batch_bytes = effective_batch_bytes(settings);
  const std::uint64_t batches = std::max<std::uint64_t>(bytes / batch_bytes, 4) + warm_up_batches;
  std::unique_ptr<sink> destination = open_new_sink(settings);
  sink_writer out(*destination);
  room_feeder feeder(way.of, batch_bytes);
  const auto fill = [&](std::uint64_t number) {
    const std::span<std::byte> room = out.room();
    const std::size_t used = feeder.fill(room, out.end(), number);
    out.filled(used);
    return std::uint64_t{used};
  };
  std::uint64_t all_bytes = 0;
  for (std::uint64_t number = 0; number < warm_up_batches; ++number) {
    all_bytes += fill(number);
    static_cast<void>(out.next_room());
  }
  out.finish();
  limit_clock clock(batches, way.watch_call_cpu);
  const std::uint64_t begin_bytes = all_bytes;
  std::uint64_t looked_at = 0;
  std::uint64_t resident_bytes_max = 0;
  pacer pace(way.bytes_per_second > 0 ? static_cast<double>(batch_bytes) / way.bytes_per_second : 0);
  clock.start();
  for (std::uint64_t number = warm_up_batches; number < batches; ++number) {
    pace.wait();
    all_bytes += fill(number);
    clock.call_begins();
    if (number + 1 < batches)
      static_cast<void>(out.next_room());
    else
      out.finish();
    clock.call_ends();
    if (way.watch_page_cache && (all_bytes - looked_at >= look_bytes || number + 1 == batches)) {
      looked_at = all_bytes;
      while (way.sync_before_looking && destination->sync().code == errc::pending) std::this_thread::yield();
      resident_bytes_max = std::max(resident_bytes_max, page_cache_bytes(settings.path));
    }
  }
  loop_run run = clock.stop(all_bytes - begin_bytes);
  run.resident_bytes_max = resident_bytes_max;
  destination.reset();
  check(settings, way.of, batch_bytes, batches, all_bytes);
  ::unlink(settings.path.c_str());
  return run;
}

loop_run run_stalled_logger(const std::filesystem::path& file, std::uint64_t bytes, int stall_ms) {
  static std::once_flag once;
  std::call_once(once, [] {
    register_sink_type(stalled_type,
                       [](const sink_config& settings) { return std::make_unique<stalled_sink>(sinks::make_write_sink(settings)); });
  });
  ::unlink(file.c_str());
  config settings;
  settings.backend.memory = std::size_t{64} << 20;
  sink_config& to = settings.sinks["limits"];
  to.type = stalled_type;
  to.path = file;
  to.pattern = "{message}";
  to.control_chars = control_chars_policy::raw;
  to.reopen = false;
  settings.loggers["root"] = {.level = level::info, .sinks = std::vector<std::string>{"limits"}};
  const std::uint64_t lines = std::max<std::uint64_t>(bytes / hot_lines::line_bytes, 1);
  start(settings);
  logger& log = penstock::get("root");
  const auto burst = [&](std::uint64_t first) {
    for (std::uint64_t number = first; number < first + lines; ++number) {
      // The logger adds the newline.
      log.info("{}", std::string_view(reinterpret_cast<const char*>(hot_lines::instance().line(number)), hot_lines::line_bytes - 1));
    }
  };
  // Once before the clock, with a stall for every run: the memory of a whole burst is touched then.
  stall_ms_wanted = std::max(stall_ms, 50);
  burst(0);
  bool all_written = flush();
  limit_clock clock(0);
  stall_ms_wanted = stall_ms;
  clock.start();
  burst(lines);
  loop_run run = clock.stop(lines * hot_lines::line_bytes);
  all_written = stop() && all_written;
  if (!all_written) throw std::runtime_error("the logger left records behind");
  check_lines(file, 2 * lines * hot_lines::line_bytes);
  ::unlink(file.c_str());
  return run;
}

std::uint64_t page_cache_bytes(const std::filesystem::path& file) {
  const os::descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts {};
  if (!fd.valid() || ::fstat(fd.get(), &facts) != 0) fail("cannot look at", file);
  if (facts.st_size == 0) return 0;
  const std::size_t page = os::system_page_bytes();
  // glibc 2.36 has no wrapper; the numbers are the kernel's (include/uapi/linux/mman.h).
  constexpr long sys_cachestat = 451;
  const std::uint64_t range[2]{0, 0};  // offset, length; 0: to the end
  std::uint64_t found[5]{};            // cached, dirty, under write-back, evicted, recently evicted; pages
  if (::syscall(sys_cachestat, fd.get(), range, found, 0) == 0) return found[0] * page;
  mapping whole(fd.get(), static_cast<std::size_t>(facts.st_size), PROT_READ);
  std::vector<unsigned char> pages((whole.span().size() + page - 1) / page);
  if (::mincore(whole.span().data(), whole.span().size(), pages.data()) != 0) fail("mincore of", file);
  return static_cast<std::uint64_t>(std::ranges::count_if(pages, [](unsigned char one) { return (one & 1U) != 0; })) * page;
}

}  // namespace penstock::bench
