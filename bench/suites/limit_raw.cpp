// SPDX-License-Identifier: MIT
// The raw loops: what the machine does when it is asked directly.
#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "bench/suites/limit_clock.hpp"
#include "bench/suites/limit_content.hpp"
#include "bench/suites/raw_io.hpp"
#include "bench/suites/statistics.hpp"
#include "lib/os/batch_buffer.hpp"
#include "lib/os/mapping.hpp"
#include "sinks/factory.hpp"
#include "sinks/uring.hpp"

#ifdef __SSE2__
#include <immintrin.h>
#endif

namespace penstock::bench {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t copy_bytes = std::size_t{64} << 10;
constexpr unsigned uring_depth = 4;

std::uint64_t batches_of(const loop_size& size) noexcept {
  return std::max<std::uint64_t>(size.bytes / size.batch_bytes, 4) + warm_up_batches;
}

os::descriptor open_new(const std::filesystem::path& file, int flags) {
  ::unlink(file.c_str());
  os::descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0640));
  if (!fd.valid() && errno == EINVAL && (flags & O_DIRECT) != 0) throw unavailable("this file system has no O_DIRECT");
  if (!fd.valid()) fail("cannot make", file);
  return fd;
}

/// Blocks ahead of the text, as sinks/preallocation.cpp asks for them.
class blocks_ahead {
 public:
  explicit blocks_ahead(int fd) noexcept : fd_(fd) {}

  void before(std::uint64_t end_bytes) {
    if (end_bytes + step_bytes / 2 <= allocated_bytes_) return;
    if (::fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(allocated_bytes_), static_cast<off_t>(step_bytes)) != 0)
      throw unavailable("this file system cannot allocate ahead: " + std::generic_category().message(errno));
    allocated_bytes_ += step_bytes;
  }

 private:
  static constexpr std::uint64_t step_bytes = std::uint64_t{64} << 20;
  int fd_;
  std::uint64_t allocated_bytes_ = 0;
};

void put_whole(int fd, std::span<const std::byte> data, const raw_way& way, std::uint64_t offset) {
  const ssize_t count =
      way.append ? ::write(fd, data.data(), data.size()) : ::pwrite(fd, data.data(), data.size(), static_cast<off_t>(offset));
  if (count == static_cast<ssize_t>(data.size())) return;
  if (count < 0 && errno == EINVAL && way.direct) throw unavailable("this file system refuses O_DIRECT writes of whole pages");
  throw std::system_error(count < 0 ? errno : ENOSPC, std::generic_category(), "the raw loop cannot write");
}

#ifdef __SSE2__
// Whole cache lines only.
void copy_streaming(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (std::size_t i = 0; i < bytes; i += 64) {
    const auto* source = reinterpret_cast<const __m128i*>(from + i);
    auto* target = reinterpret_cast<__m128i*>(to + i);
    const __m128i a = _mm_load_si128(source);
    const __m128i b = _mm_load_si128(source + 1);
    const __m128i c = _mm_load_si128(source + 2);
    const __m128i d = _mm_load_si128(source + 3);
    _mm_stream_si128(target, a);
    _mm_stream_si128(target + 1, b);
    _mm_stream_si128(target + 2, c);
    _mm_stream_si128(target + 3, d);
  }
  _mm_sfence();
}
constexpr bool can_stream = true;
#else
void copy_streaming(std::byte*, const std::byte*, std::size_t) noexcept {}
constexpr bool can_stream = false;
#endif

/// A ring's file, made by the sink, which ends here.
void make_ring_file(const std::filesystem::path& file, std::size_t ring_bytes) {
  ::unlink(file.c_str());
  sink_config settings;
  settings.type = "mmap_ring";
  settings.path = file;
  settings.size = ring_bytes;
  try {
    static_cast<void>(sinks::make_sink(settings));
  } catch (const std::exception& error) {
    throw unavailable(error.what());
  }
}

}  // namespace

double loop_run::call_percentile_us(double fraction) const {
  std::vector<double> sorted = call_us;
  std::ranges::sort(sorted);
  return percentile(sorted, fraction);
}

loop_run run_raw(const loop_size& size, const raw_way& way) {
  const std::uint64_t batches = batches_of(size);
  const os::batch_buffer memory(size.batch_bytes, way.direct);  // in huge pages for O_DIRECT, as the sinks have it
  const std::span<std::byte> batch = memory.room_at(0);
  fill_batch(batch);
  const os::descriptor fd = open_new(size.file, (way.append ? O_APPEND : 0) | (way.direct ? O_DIRECT : 0));
  blocks_ahead ahead(fd.get());
  const auto put_batch = [&](std::uint64_t number) {
    const std::uint64_t offset = number * size.batch_bytes;
    number_batch(batch.data(), number);
    if (way.allocate) ahead.before(offset + size.batch_bytes);
    put_whole(fd.get(), batch, way, offset);
  };
  const std::uint64_t before_clock = way.overwrite ? batches : warm_up_batches;
  for (std::uint64_t number = 0; number < before_clock; ++number) put_batch(number);
  limit_clock clock(batches);
  clock.start();
  for (std::uint64_t number = way.overwrite ? 0 : warm_up_batches; number < batches; ++number) {
    clock.call_begins();
    put_batch(number);
    clock.call_ends();
  }
  loop_run run = clock.stop((batches - (way.overwrite ? 0 : warm_up_batches)) * size.batch_bytes);
  check_batches(size.file, size.batch_bytes, batches);
  ::unlink(size.file.c_str());
  return run;
}

loop_run run_raw_direct_uring(const loop_size& size) {
  if (!sinks::uring::built()) throw unavailable("built without io_uring");
  const std::uint64_t batches = batches_of(size);
  const os::batch_buffer memory(size.batch_bytes * uring_depth, true);
  for (unsigned i = 0; i < uring_depth; ++i) fill_batch(memory.room_at(0).subspan(i * size.batch_bytes, size.batch_bytes));
  const os::descriptor fd = open_new(size.file, O_DIRECT);
  blocks_ahead ahead(fd.get());
  sinks::uring ring;
  if (const int os_error = ring.open(uring_depth); os_error != 0)
    throw unavailable("io_uring is refused: " + std::generic_category().message(os_error));
  ring.use_files(fd.get(), -1);
  if (const int os_error = ring.register_buffers(memory.data(), size.batch_bytes, uring_depth); os_error != 0)
    throw unavailable("its batches cannot be registered (RLIMIT_MEMLOCK): " + std::generic_category().message(os_error));

  std::vector<unsigned> free{0, 1, 2, 3};
  const auto reap = [&] {
    std::array<sinks::uring_result, uring_depth> results;
    std::size_t count = 0;
    while ((count = ring.take(results)) == 0)
      if (const int os_error = ring.wait(1s); os_error != 0) throw std::system_error(os_error, std::generic_category(), "io_uring_enter");
    for (std::size_t i = 0; i < count; ++i) {
      if (results[i].result == -EINVAL) throw unavailable("this file system refuses O_DIRECT writes of whole pages");
      if (results[i].result != static_cast<int>(size.batch_bytes))
        throw std::system_error(results[i].result < 0 ? -results[i].result : ENOSPC, std::generic_category(), "the raw loop cannot write");
      free.push_back(static_cast<unsigned>(results[i].tag));
    }
  };
  const auto put_batch = [&](std::uint64_t number) {
    if (free.empty()) reap();
    const unsigned slot = free.back();
    free.pop_back();
    std::byte* const data = memory.data() + slot * size.batch_bytes;
    number_batch(data, number);
    ahead.before((number + 1) * size.batch_bytes);
    ring.put({.data = {data, size.batch_bytes}, .offset = number * size.batch_bytes, .buffer = static_cast<int>(slot), .tag = slot});
    if (const int os_error = ring.send(); os_error != 0) throw std::system_error(os_error, std::generic_category(), "io_uring_enter");
  };
  const auto drain = [&] {
    while (free.size() != uring_depth) reap();
  };
  for (std::uint64_t number = 0; number < warm_up_batches; ++number) put_batch(number);
  drain();
  limit_clock clock(batches);
  clock.start();
  for (std::uint64_t number = warm_up_batches; number < batches; ++number) {
    clock.call_begins();
    put_batch(number);
    clock.call_ends();
  }
  drain();
  loop_run run = clock.stop((batches - warm_up_batches) * size.batch_bytes);
  check_batches(size.file, size.batch_bytes, batches);
  ::unlink(size.file.c_str());
  return run;
}

loop_run run_copy_to_mapping(const loop_size& size, std::size_t ring_bytes, bool streaming) {
  if (streaming && !can_stream) throw unavailable("this processor's streaming stores are not used here");
  make_ring_file(size.file, ring_bytes);
  const os::descriptor fd(::open(size.file.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd.valid()) fail("cannot open", size.file);
  const std::size_t page = os::system_page_bytes();
  const std::size_t data_bytes = ring_bytes - page;
  const os::mirrored_mapping memory(fd.get(), {.header_bytes = page, .data_bytes = data_bytes, .writable = true});
  if (const int error = os::populate_for_writing(memory.whole().first(ring_bytes + copy_bytes)); error != 0)
    throw unavailable("the mapping cannot be populated: " + std::generic_category().message(error));
  buffer source(copy_bytes);
  fill_batch(source.span());
  const std::uint64_t pieces = std::max<std::uint64_t>(size.bytes / copy_bytes, 4);
  limit_clock clock(pieces);
  clock.start();
  std::size_t offset = 0;
  for (std::uint64_t number = 0; number < pieces; ++number) {
    number_batch(source.data(), number);
    if (streaming)
      copy_streaming(memory.data() + offset, source.data(), copy_bytes);
    else
      std::memcpy(memory.data() + offset, source.data(), copy_bytes);
    offset += copy_bytes;
    if (offset >= data_bytes) offset -= data_bytes;
  }
  loop_run run = clock.stop(pieces * copy_bytes);
  // The last lap, from its end on.
  const std::uint64_t kept = std::min<std::uint64_t>(pieces, data_bytes / copy_bytes);
  for (std::uint64_t i = 0; i < kept; ++i) {
    offset = offset >= copy_bytes ? offset - copy_bytes : offset + data_bytes - copy_bytes;
    number_batch(source.data(), pieces - 1 - i);
    if (std::memcmp(memory.data() + offset, source.data(), copy_bytes) != 0)
      throw std::runtime_error("verification failed: the mapping does not hold what was copied there");
  }
  ::unlink(size.file.c_str());
  return run;
}

}  // namespace penstock::bench
