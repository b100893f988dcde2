// SPDX-License-Identifier: MIT
#include "bench/suites/sequential_ways.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>

#include "bench/suites/checksum.hpp"
#include "bench/suites/content.hpp"
#include "bench/suites/raw_io.hpp"

namespace penstock::bench {
namespace {

constexpr std::size_t java_buffer_bytes = 8192;

// Keeps a result alive that nobody else looks at.
void use(std::uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

struct close_file {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, close_file>;

// The post's loop: make a byte, add it to the sum, store it. `room` does not cross the end of a period.
std::uint64_t generate_piece(std::span<std::byte> room, std::uint64_t offset) {
  const auto start = static_cast<std::uint32_t>(offset % content::period_bytes);
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < room.size(); ++i) {
    const std::byte b = content_byte(start + i);
    sum += std::to_integer<std::uint32_t>(b);
    room[i] = b;
  }
  return sum;
}

std::uint64_t generate(std::span<std::byte> room, std::uint64_t offset) {
  std::uint64_t sum = 0;
  while (!room.empty()) {
    const std::size_t n = std::min<std::size_t>(room.size(), content::period_bytes - offset % content::period_bytes);
    sum += generate_piece(room.first(n), offset);
    room = room.subspan(n);
    offset += n;
  }
  return sum;
}

std::size_t piece(std::uint64_t offset, std::uint64_t bytes, std::size_t block_bytes) {
  return static_cast<std::size_t>(std::min<std::uint64_t>(block_bytes, bytes - offset));
}

// Calls `out` with each block of the stream, made now or taken from prepared memory.
template <class Out>
void each_block(std::uint64_t bytes, std::size_t block_bytes, generation made, std::span<std::byte> room, Out out) {
  const content& prepared = content::instance();
  std::uint64_t sum = 0;
  for (std::uint64_t offset = 0; offset < bytes;) {
    const std::size_t n = piece(offset, bytes, block_bytes);
    if (made == generation::timed) {
      sum += generate(room.first(n), offset);
      out(offset, std::span<const std::byte>(room.first(n)));
    } else {
      out(offset, prepared.block(offset, n));
    }
    offset += n;
  }
  use(sum);
}

std::uint64_t bytes_of(const os::descriptor& fd, const pass& p) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail("fstat", p.source);
  return static_cast<std::uint64_t>(status.st_size);
}

void end(os::descriptor& fd, pass& p) {
  p.returned();
  fd.reset();
  p.closed();
}

}  // namespace

void write_blocks(pass& p, std::uint64_t bytes, std::size_t block_bytes, generation made) {
  os::descriptor fd = open_target(p);
  buffer room(block_bytes);
  p.started();
  each_block(bytes, block_bytes, made, room.span(), [&](std::uint64_t, std::span<const std::byte> block) { put(fd.get(), block); });
  end(fd, p);
}

void write_by_bytes(pass& p, std::uint64_t bytes, generation made) {
  file out(::fdopen(open_target(p).release(), "w"));
  if (!out) fail("fdopen", p.target);
  std::setvbuf(out.get(), nullptr, _IOFBF, java_buffer_bytes);
  buffer room(java_buffer_bytes);
  p.started();
  each_block(bytes, java_buffer_bytes, made, room.span(), [&](std::uint64_t, std::span<const std::byte> block) {
    for (std::byte b : block) ::putc_unlocked(std::to_integer<int>(b), out.get());
  });
  p.returned();
  const bool flushed = std::fflush(out.get()) == 0;
  out.reset();
  p.closed();
  if (!flushed) fail("putc", p.target);
}

void write_by_channel(pass& p, std::uint64_t bytes, std::size_t block_bytes, generation made) {
  os::descriptor fd = open_target(p);
  buffer room(block_bytes);
  buffer direct(block_bytes);
  p.started();
  each_block(bytes, block_bytes, made, room.span(), [&](std::uint64_t offset, std::span<const std::byte> block) {
    std::memcpy(direct.data(), block.data(), block.size());
    put_at(fd.get(), direct.span().first(block.size()), offset);
  });
  end(fd, p);
}

void write_mapped(pass& p, std::uint64_t bytes, std::size_t block_bytes, generation made, bool populate) {
  os::descriptor fd = open_target(p, O_RDWR);
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) fail("ftruncate", p.target);
  mapping memory(fd.get(), static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE);
  if (populate && ::madvise(memory.span().data(), memory.span().size(), MADV_POPULATE_WRITE) != 0)
    throw unavailable("MADV_POPULATE_WRITE needs Linux 5.14");
  buffer room(block_bytes);
  std::byte* out = memory.span().data();
  p.started();
  each_block(bytes, block_bytes, made, room.span(),
             [&](std::uint64_t offset, std::span<const std::byte> block) { std::memcpy(out + offset, block.data(), block.size()); });
  p.returned();
  memory.unmap();
  fd.reset();
  p.closed();
}

// Files.write(path, bytes) sends its array in pieces of 8192 bytes, whatever its name says.
void write_whole(pass& p, std::uint64_t bytes, generation made) {
  os::descriptor fd = open_target(p);
  buffer whole(static_cast<std::size_t>(bytes));
  if (made == generation::before) generate(whole.span(), 0);
  p.started();
  if (made == generation::timed) use(generate(whole.span(), 0));
  for (std::uint64_t offset = 0; offset < bytes;) {
    const std::size_t n = piece(offset, bytes, java_buffer_bytes);
    put(fd.get(), whole.span().subspan(static_cast<std::size_t>(offset), n));
    offset += n;
  }
  end(fd, p);
}

void read_blocks(pass& p, std::size_t block_bytes) {
  os::descriptor fd = open_source(p.source);
  buffer room(block_bytes);
  checksum sum;
  p.started();
  for (std::size_t n; (n = get(fd.get(), room.span())) != 0;) sum.add(room.span().first(n));
  end(fd, p);
  p.read = sum.result();
}

void read_by_bytes(pass& p) {
  file in(::fdopen(open_source(p.source).release(), "r"));
  if (!in) fail("fdopen", p.source);
  std::setvbuf(in.get(), nullptr, _IOFBF, java_buffer_bytes);
  digest seen;
  p.started();
  for (int c; (c = ::getc_unlocked(in.get())) != EOF; ++seen.bytes) seen.sum += static_cast<std::uint64_t>(c);
  p.returned();
  in.reset();
  p.closed();
  p.read = seen;
}

void read_by_channel(pass& p, std::size_t block_bytes) {
  os::descriptor fd = open_source(p.source);
  buffer direct(block_bytes);
  buffer room(block_bytes);
  checksum sum;
  p.started();
  for (std::uint64_t offset = 0;;) {
    const ssize_t n = ::pread(fd.get(), direct.data(), direct.size(), static_cast<off_t>(offset));
    if (n < 0) fail("pread", p.source);
    if (n == 0) break;
    const auto bytes = static_cast<std::size_t>(n);
    std::memcpy(room.data(), direct.data(), bytes);
    sum.add(room.span().first(bytes));
    offset += bytes;
  }
  end(fd, p);
  p.read = sum.result();
}

void read_mapped(pass& p, std::size_t block_bytes) {
  os::descriptor fd = open_source(p.source);
  mapping memory(fd.get(), static_cast<std::size_t>(bytes_of(fd, p)), PROT_READ);
  buffer room(block_bytes);
  checksum sum;
  p.started();
  // MappedByteBuffer.get(byte[]): a copy out of the mapping.
  for (std::span<const std::byte> rest = memory.span(); !rest.empty();) {
    const std::size_t n = std::min(block_bytes, rest.size());
    std::memcpy(room.data(), rest.data(), n);
    sum.add(room.span().first(n));
    rest = rest.subspan(n);
  }
  p.returned();
  memory.unmap();
  fd.reset();
  p.closed();
  p.read = sum.result();
}

// Files.readAllBytes(path) allocates the array itself, so that its memory is inside the clock.
void read_whole(pass& p) {
  os::descriptor fd = open_source(p.source);
  checksum sum;
  p.started();
  {
    buffer whole(static_cast<std::size_t>(bytes_of(fd, p)));
    sum.add(whole.span().first(get(fd.get(), whole.span())));
  }
  end(fd, p);
  p.read = sum.result();
}

void generate_only(pass& p, std::uint64_t bytes, std::size_t block_bytes) {
  buffer room(block_bytes);
  digest seen;
  p.started();
  for (std::uint64_t offset = 0; offset < bytes;) {
    const std::size_t n = piece(offset, bytes, block_bytes);
    seen.sum += generate(room.span().first(n), offset);
    offset += n;
    asm volatile("" : : "r"(room.data()) : "memory");  // the block is somebody's output
  }
  p.returned();
  p.closed();
  seen.bytes = bytes;
  p.read = seen;
}

void checksum_only(pass& p, std::uint64_t bytes, std::size_t block_bytes) {
  checksum sum;
  p.started();
  for (std::uint64_t offset = 0; offset < bytes;) {
    const std::size_t n = piece(offset, bytes, block_bytes);
    sum.add(content::instance().block(offset, n));
    offset += n;
  }
  p.returned();
  p.closed();
  p.read = sum.result();
}

}  // namespace penstock::bench
