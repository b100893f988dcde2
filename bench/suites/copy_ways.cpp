// SPDX-License-Identifier: MIT
#include "bench/suites/copy_ways.hpp"

#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>

#include "bench/suites/raw_io.hpp"

namespace penstock::bench {
namespace {

std::size_t bytes_of(const os::descriptor& fd, const pass& the_pass) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) fail("fstat", the_pass.source);
  return static_cast<std::size_t>(status.st_size);
}

void close_both(os::descriptor& source, os::descriptor& target, pass& the_pass) {
  source.reset();
  target.reset();
  the_pass.closed();
}

struct close_file {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, close_file>;

}  // namespace

// Java's loop is `while ((c = in.read()) != -1) out.write(c)` over two buffers of 8192 bytes.
void copy_by_bytes(pass& the_pass) {
  the_pass.started();
  os::descriptor source_fd = open_source(the_pass.source);
  os::descriptor target_fd = open_target(the_pass);
  const file source(::fdopen(source_fd.release(), "r"));
  file target(::fdopen(target_fd.release(), "w"));
  if (!source || !target) fail("fdopen", the_pass.target);
  std::setvbuf(source.get(), nullptr, _IOFBF, 8192);
  std::setvbuf(target.get(), nullptr, _IOFBF, 8192);
  for (int c; (c = ::getc_unlocked(source.get())) != EOF;) ::putc_unlocked(c, target.get());
  the_pass.returned();
  const bool closed = std::fclose(target.release()) == 0;
  the_pass.closed();
  if (!closed) fail("putc", the_pass.target);
}

void copy_by_buffer(pass& the_pass, std::size_t buffer_bytes, allocation memory) {
  std::optional<buffer> room;
  if (memory == allocation::before) room.emplace(buffer_bytes);
  the_pass.started();
  os::descriptor source = open_source(the_pass.source);
  os::descriptor target = open_target(the_pass);
  if (!room) room.emplace(buffer_bytes);
  for (std::size_t n; (n = get(source.get(), room->span())) != 0;) put(target.get(), room->span().first(n));
  the_pass.returned();
  close_both(source, target, the_pass);
}

void copy_whole(pass& the_pass, allocation memory) {
  const auto bytes = static_cast<std::size_t>(std::filesystem::file_size(the_pass.source));
  copy_by_buffer(the_pass, bytes, memory);
}

void copy_by_mapping(pass& the_pass) {
  the_pass.started();
  os::descriptor source = open_source(the_pass.source);
  os::descriptor target = open_target(the_pass);
  mapping memory(source.get(), bytes_of(source, the_pass), PROT_READ);
  put(target.get(), memory.span());
  the_pass.returned();
  memory.unmap();
  close_both(source, target, the_pass);
}

void copy_by_populated_mapping(pass& the_pass) {
  constexpr std::size_t piece_bytes = std::size_t{1} << 20;
  the_pass.started();
  os::descriptor source = open_source(the_pass.source);
  os::descriptor target = open_target(the_pass);
  mapping memory(source.get(), bytes_of(source, the_pass), PROT_READ, MAP_POPULATE);
  for (std::span<const std::byte> rest = memory.span(); !rest.empty();) {
    const std::size_t n = std::min(piece_bytes, rest.size());
    put(target.get(), rest.first(n));
    rest = rest.subspan(n);
  }
  the_pass.returned();
  memory.unmap();
  close_both(source, target, the_pass);
}

void copy_by_mapped_slices(pass& the_pass) {
  constexpr std::size_t slice_bytes = std::size_t{8} << 20;
  the_pass.started();
  os::descriptor source = open_source(the_pass.source);
  os::descriptor target = open_target(the_pass);
  const std::size_t bytes = bytes_of(source, the_pass);
  for (std::size_t offset = 0; offset < bytes; offset += slice_bytes) {
    mapping slice(source.get(), std::min(slice_bytes, bytes - offset), PROT_READ, 0, offset);
    put_at(target.get(), slice.span(), offset);
  }
  the_pass.returned();
  close_both(source, target, the_pass);
}

void copy_by_sendfile(pass& the_pass) {
  the_pass.started();
  os::descriptor source = open_source(the_pass.source);
  os::descriptor target = open_target(the_pass);
  std::size_t left = bytes_of(source, the_pass);
  while (left > 0) {
    const ssize_t n = ::sendfile(target.get(), source.get(), nullptr, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("sendfile", the_pass.target);
    left -= static_cast<std::size_t>(n);
  }
  the_pass.returned();
  close_both(source, target, the_pass);
}

void copy_by_copy_file_range(pass& the_pass) {
  the_pass.started();
  os::descriptor source = open_source(the_pass.source);
  os::descriptor target = open_target(the_pass);
  std::size_t left = bytes_of(source, the_pass);
  while (left > 0) {
    const ssize_t n = ::copy_file_range(source.get(), nullptr, target.get(), nullptr, left, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == ENOSYS || errno == EOPNOTSUPP || errno == EXDEV || errno == EINVAL))
      throw unavailable(std::generic_category().message(errno));
    if (n <= 0) fail("copy_file_range", the_pass.target);
    left -= static_cast<std::size_t>(n);
  }
  the_pass.returned();
  close_both(source, target, the_pass);
}

void copy_into_sink(sink_writer& out, const pass& the_pass) {
  const os::descriptor source = open_source(the_pass.source);
  for (;;) {
    const std::size_t n = get(source.get(), out.room());
    if (n == 0) return;
    out.filled(n);
  }
}

}  // namespace penstock::bench
