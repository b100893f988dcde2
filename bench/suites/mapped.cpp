// SPDX-License-Identifier: MIT
// The stream against mapping post: N big-endian ints. Its mapped write maps the size that the file already has and writes what is already
// there; its mapped read is deleted by the JIT, since nobody uses the values. Here the mapping is 4*N bytes, the content differs from what
// is there, and every value that is read is used.
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cstdio>
#include <cstring>
#include <memory>

#include "bench/suites/checksum.hpp"
#include "bench/suites/content.hpp"
#include "bench/suites/raw_io.hpp"
#include "bench/suites/sink_rows.hpp"
#include "bench/suites/suites.hpp"

namespace penstock::bench {
namespace {

constexpr std::size_t java_buffer_bytes = 8192;
constexpr std::size_t batch_bytes = std::size_t{64} << 10;

// The ints of one column in the machine's byte order: the stream of bench/suites/content.hpp read as big-endian ints, so that each row
// still does the swap that Java's DataOutputStream does.
using ints = std::shared_ptr<const std::vector<std::uint32_t>>;

std::uint32_t big_endian(std::uint32_t value) { return std::endian::native == std::endian::little ? __builtin_bswap32(value) : value; }

ints make_ints(std::size_t count) {
  auto values = std::make_shared<std::vector<std::uint32_t>>(count);
  const content& stream = content::instance();
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t value;
    std::memcpy(&value, stream.block(i * 4, 4).data(), 4);
    (*values)[i] = big_endian(value);
  }
  return values;
}

// What a reading row saw: the count and the sum of the ints, compared with what was prepared.
std::string check_sum(const ints& values, const pass& done) {
  std::uint64_t sum = 0;
  for (std::uint32_t value : *values) sum += value;
  const digest expected{values->size(), sum};
  return done.read == expected ? std::string() : "the sum of the ints is wrong";
}

struct close_file {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

void stream_write(const ints& values, pass& the_pass) {
  the_pass.started();
  std::unique_ptr<std::FILE, close_file> out(::fdopen(open_target(the_pass).release(), "w"));
  if (!out) fail("fdopen", the_pass.target);
  std::setvbuf(out.get(), nullptr, _IOFBF, java_buffer_bytes);
  for (std::uint32_t value : *values) {
    const std::uint32_t swapped = big_endian(value);
    ::fwrite_unlocked(&swapped, 4, 1, out.get());
  }
  the_pass.returned();
  const bool closed = std::fclose(out.release()) == 0;
  the_pass.closed();
  if (!closed) fail("fwrite", the_pass.target);
}

void mapped_write(const ints& values, pass& the_pass) {
  const std::size_t bytes = values->size() * 4;
  the_pass.started();
  os::descriptor fd = open_target(the_pass, O_RDWR);
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) fail("ftruncate", the_pass.target);
  mapping memory(fd.get(), bytes, PROT_READ | PROT_WRITE);
  std::byte* out = memory.span().data();
  for (std::uint32_t value : *values) {
    const std::uint32_t swapped = big_endian(value);
    std::memcpy(out, &swapped, 4);
    out += 4;
  }
  the_pass.returned();
  memory.unmap();
  fd.reset();
  the_pass.closed();
}

void stream_read(const ints& values, pass& the_pass) {
  the_pass.started();
  std::unique_ptr<std::FILE, close_file> in(::fdopen(open_source(the_pass.source).release(), "r"));
  if (!in) fail("fdopen", the_pass.source);
  std::setvbuf(in.get(), nullptr, _IOFBF, java_buffer_bytes);
  digest seen;
  for (std::uint32_t swapped; seen.bytes < values->size() && ::fread_unlocked(&swapped, 4, 1, in.get()) == 1; ++seen.bytes)
    seen.sum += big_endian(swapped);
  the_pass.returned();
  in.reset();
  the_pass.closed();
  the_pass.read = seen;
}

void mapped_read(const ints& values, pass& the_pass) {
  the_pass.started();
  os::descriptor fd = open_source(the_pass.source);
  mapping memory(fd.get(), values->size() * 4, PROT_READ);
  digest seen{values->size(), 0};
  const std::byte* in = memory.span().data();
  for (std::size_t i = 0; i < values->size(); ++i, in += 4) {
    std::uint32_t swapped;
    std::memcpy(&swapped, in, 4);
    seen.sum += big_endian(swapped);
  }
  the_pass.returned();
  memory.unmap();
  fd.reset();
  the_pass.closed();
  the_pass.read = seen;
}

void batch_write(const ints& values, pass& the_pass) {
  the_pass.started();
  os::descriptor fd = open_target(the_pass);
  buffer room(std::min(batch_bytes, values->size() * 4));
  std::size_t used_bytes = 0;
  for (std::uint32_t value : *values) {
    const std::uint32_t swapped = big_endian(value);
    std::memcpy(room.data() + used_bytes, &swapped, 4);
    used_bytes += 4;
    if (used_bytes < room.size()) continue;
    put(fd.get(), room.span());
    used_bytes = 0;
  }
  the_pass.returned();
  put(fd.get(), room.span().first(used_bytes));
  fd.reset();
  the_pass.closed();
}

void batch_read(const ints& values, pass& the_pass) {
  the_pass.started();
  os::descriptor fd = open_source(the_pass.source);
  buffer room(std::min(batch_bytes, values->size() * 4));
  digest seen;
  for (std::size_t n; (n = get(fd.get(), room.span())) != 0;) {
    for (std::size_t i = 0; i + 4 <= n; i += 4, ++seen.bytes) {
      std::uint32_t swapped;
      std::memcpy(&swapped, room.data() + i, 4);
      seen.sum += big_endian(swapped);
    }
  }
  the_pass.returned();
  fd.reset();
  the_pass.closed();
  the_pass.read = seen;
}

struct row {
  const char* name;
  row_kind kind;
  bool reads;
  void (*run)(const ints&, pass&);
};

constexpr row rows[] = {
    {"Stream Write", row_kind::post, false, stream_write},    {"Memory-mapped File Write", row_kind::post, false, mapped_write},
    {"Stream Read", row_kind::post, true, stream_read},       {"Memory-mapped File Read", row_kind::post, true, mapped_read},
    {"write(2) 64 KiB", row_kind::other, false, batch_write}, {"read(2) 64 KiB", row_kind::other, true, batch_read},
};

void into_sink(const ints& values, sink_writer& out) {
  std::span<std::byte> room{};
  std::size_t used_bytes = 0;
  for (std::uint32_t value : *values) {
    const std::uint32_t swapped = big_endian(value);
    if (room.size() - used_bytes < 4) {
      out.filled(used_bytes);
      used_bytes = 0;
      // An int that straddles two batches, or the first: by the slow way.
      out.stream(std::as_bytes(std::span(&swapped, 1)));
      room = out.room();
      continue;
    }
    std::memcpy(room.data() + used_bytes, &swapped, 4);
    used_bytes += 4;
  }
  out.filled(used_bytes);
}

struct count {
  const char* label;
  std::size_t ints;
};
constexpr count counts[] = {{"10", 10}, {"100", 100}, {"2^10", 1U << 10}, {"2^20", 1U << 20}, {"2^21", 1U << 21}, {"2^22", 1U << 22}};

}  // namespace

suite mapped_suite(const options& chosen) {
  suite what{.name = "mapped", .title = "N ints through a stream and through a mapping", .unit = "ms", .post_clock = clock_kind::close};
  what.notes = {
      "`close` runs from opening to closing, unmapping included. The ints are prepared before; each row swaps them to big-endian.",
      "The post's mapped read figures are partly deleted work (nothing used the values): compare no mapped read with them."};
  for (const count& n : counts) {
    if (chosen.smoke && n.ints > 1024) break;
    const ints values = make_ints(n.ints);
    column size{.label = n.label, .bytes = n.ints * 4, .has_source = true};
    size.expected = content::instance().expected(size.bytes);
    size.stream = content::piece;
    for (const row& one : rows) {
      cell the_cell{.row = one.name, .kind = one.kind, .run = [values, run = one.run](pass& p) { run(values, p); }, .reads = one.reads};
      if (one.reads) the_cell.verify = [values](const pass& done) { return check_sum(values, done); };
      size.cells.push_back(std::move(the_cell));
    }
    add_sink_rows(size, chosen, [values](sink_writer& out, const pass&) { into_sink(values, out); });
    what.columns.push_back(std::move(size));
  }
  return what;
}

}  // namespace penstock::bench
