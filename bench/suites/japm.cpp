// SPDX-License-Identifier: MIT
// The JAPM post: 1000 log records of one size through each of Java's writers. Each row makes the system calls of its Java class (seen with
// strace) and the copies before them; the last row without the post's off-by-one, which lost the last byte of every record whose length is
// not a multiple of 1 000.
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

#include "bench/suites/content.hpp"
#include "bench/suites/logger_rows.hpp"
#include "bench/suites/raw_io.hpp"
#include "bench/suites/sink_rows.hpp"
#include "bench/suites/suites.hpp"

namespace penstock::bench {
namespace {

using data = std::shared_ptr<const records>;
constexpr std::size_t java_buffer_bytes = 8192;  // StreamEncoder's, BufferedWriter's and BufferedOutputStream's

// Fills a buffer to its last byte and writes it whole, as Java's StreamEncoder does.
class encoder {
 public:
  explicit encoder(int fd) : fd_(fd) {}
  void add(std::span<const std::byte> text) {
    while (!text.empty()) {
      const std::size_t n = std::min(text.size(), room_.size() - used_bytes_);
      std::memcpy(room_.data() + used_bytes_, text.data(), n);
      used_bytes_ += n;
      text = text.subspan(n);
      if (used_bytes_ == room_.size()) flush();
    }
  }
  void flush() {
    put(fd_, room_.span().first(used_bytes_));
    used_bytes_ = 0;
  }

 private:
  int fd_;
  buffer room_{java_buffer_bytes};
  std::size_t used_bytes_ = 0;
};

// FileWriter.write(String): the characters are copied to a new array, then encoded.
void file_writer(const records& lines, pass& the_pass) {
  os::descriptor fd = open_target(the_pass);
  encoder out(fd.get());
  buffer characters(lines.record_bytes());
  the_pass.started();
  for (std::size_t i = 0; i < records::count; ++i) {
    std::memcpy(characters.data(), lines[i].data(), lines.record_bytes());
    out.add(characters.span());
  }
  the_pass.returned();
  out.flush();
  fd.reset();
  the_pass.closed();
}

// BufferedWriter around it: a buffer of 8192 characters in front of the encoder.
void buffered_writer(const records& lines, pass& the_pass) {
  os::descriptor fd = open_target(the_pass);
  encoder out(fd.get());
  buffer characters(java_buffer_bytes);
  std::size_t used_bytes = 0;
  the_pass.started();
  for (std::size_t i = 0; i < records::count; ++i) {
    for (std::span<const std::byte> rest = lines[i]; !rest.empty();) {
      const std::size_t n = std::min(rest.size(), characters.size() - used_bytes);
      std::memcpy(characters.data() + used_bytes, rest.data(), n);
      used_bytes += n;
      rest = rest.subspan(n);
      if (used_bytes < characters.size()) continue;
      out.add(characters.span());
      used_bytes = 0;
    }
  }
  the_pass.returned();
  out.add(characters.span().first(used_bytes));
  out.flush();
  fd.reset();
  the_pass.closed();
}

void write_each(const records& lines, pass& the_pass) {
  os::descriptor fd = open_target(the_pass);
  the_pass.started();
  for (std::size_t i = 0; i < records::count; ++i) put(fd.get(), lines[i]);
  the_pass.returned();
  fd.reset();
  the_pass.closed();
}

// BufferedOutputStream.write(byte[]): what does not fit flushes what is there; what is as long as the buffer goes past it.
void buffered_output_stream(const records& lines, pass& the_pass) {
  os::descriptor fd = open_target(the_pass);
  buffer room(java_buffer_bytes);
  std::size_t used_bytes = 0;
  const auto flush = [&] {
    if (used_bytes != 0) put(fd.get(), room.span().first(used_bytes));
    used_bytes = 0;
  };
  the_pass.started();
  for (std::size_t i = 0; i < records::count; ++i) {
    const std::span<const std::byte> record = lines[i];
    if (record.size() > room.size() - used_bytes) flush();
    if (record.size() >= room.size()) {
      put(fd.get(), record);
      continue;
    }
    std::memcpy(room.data() + used_bytes, record.data(), record.size());
    used_bytes += record.size();
  }
  the_pass.returned();
  flush();
  fd.reset();
  the_pass.closed();
}

// FileChannel.write(ByteBuffer) of a heap buffer: a copy to a direct buffer, then write(2), in pieces of at most `piece_bytes`.
void channel(const records& lines, pass& the_pass, std::size_t piece_bytes) {
  os::descriptor fd = open_target(the_pass);
  buffer direct(std::min(piece_bytes, lines.record_bytes()));
  the_pass.started();
  for (std::size_t i = 0; i < records::count; ++i) {
    for (std::span<const std::byte> rest = lines[i]; !rest.empty();) {
      const std::size_t n = std::min(rest.size(), direct.size());
      std::memcpy(direct.data(), rest.data(), n);
      put(fd.get(), direct.span().first(n));
      rest = rest.subspan(n);
    }
  }
  the_pass.returned();
  fd.reset();
  the_pass.closed();
}

void pwrite_each(const records& lines, pass& the_pass) {
  os::descriptor fd = open_target(the_pass);
  std::uint64_t offset = 0;
  the_pass.started();
  for (std::size_t i = 0; i < records::count; ++i) {
    put_at(fd.get(), lines[i], offset);
    offset += lines.record_bytes();
  }
  the_pass.returned();
  fd.reset();
  the_pass.closed();
}

void writev_32(const records& lines, pass& the_pass) {
  os::descriptor fd = open_target(the_pass);
  the_pass.started();
  for (std::size_t i = 0; i < records::count;) {
    std::array<iovec, 32> pieces{};
    std::size_t n = 0;
    std::size_t bytes = 0;
    for (; n < pieces.size() && i < records::count; ++n, ++i) {
      pieces[n] = {const_cast<std::byte*>(lines[i].data()), lines[i].size()};
      bytes += lines[i].size();
    }
    const ssize_t done = ::writev(fd.get(), pieces.data(), static_cast<int>(n));
    if (done < 0) throw std::system_error(errno, std::generic_category(), "writev");
    if (static_cast<std::size_t>(done) != bytes) throw std::runtime_error("writev was short; is the disk full?");
  }
  the_pass.returned();
  fd.reset();
  the_pass.closed();
}

void stdio(const records& lines, pass& the_pass, std::size_t buffer_bytes) {
  os::descriptor fd = open_target(the_pass);
  buffer room(std::max<std::size_t>(buffer_bytes, 1));
  std::FILE* out = ::fdopen(fd.get(), "w");
  if (out == nullptr) fail("fdopen", the_pass.target);
  static_cast<void>(fd.release());
  if (buffer_bytes != 0) std::setvbuf(out, reinterpret_cast<char*>(room.data()), _IOFBF, buffer_bytes);
  the_pass.started();
  std::size_t done = 0;
  for (std::size_t i = 0; i < records::count; ++i) done += std::fwrite(lines[i].data(), lines.record_bytes(), 1, out);
  the_pass.returned();
  const bool closed = std::fclose(out) == 0;
  the_pass.closed();
  if (!closed || done != records::count) fail("fwrite", the_pass.target);
}

void ofstream(const records& lines, pass& the_pass) {
  using std::ios;
  std::ofstream out(the_pass.target, the_pass.file == file_policy::in_place ? ios::binary | ios::in | ios::out : ios::binary | ios::trunc);
  the_pass.started();
  for (std::size_t i = 0; i < records::count; ++i)
    out.write(reinterpret_cast<const char*>(lines[i].data()), static_cast<std::streamsize>(lines.record_bytes()));
  the_pass.returned();
  out.close();
  the_pass.closed();
  if (!out) fail("std::ofstream", the_pass.target);
}

// The file gets its length first; the pages come by faults in the loop, or by MADV_POPULATE_WRITE before it.
void mapped(const records& lines, pass& the_pass, bool populate) {
  os::descriptor fd = open_target(the_pass, O_RDWR);
  const auto bytes = static_cast<std::size_t>(lines.total_bytes());
  if (::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) fail("ftruncate", the_pass.target);
  mapping memory(fd.get(), bytes, PROT_READ | PROT_WRITE);
  if (populate && ::madvise(memory.span().data(), bytes, MADV_POPULATE_WRITE) != 0)
    throw unavailable("MADV_POPULATE_WRITE needs Linux 5.14");
  std::byte* out = memory.span().data();
  the_pass.started();
  for (std::size_t i = 0; i < records::count; ++i, out += lines.record_bytes()) std::memcpy(out, lines[i].data(), lines.record_bytes());
  the_pass.returned();
  memory.unmap();
  fd.reset();
  the_pass.closed();
}

struct row {
  const char* name;
  row_kind kind;
  void (*run)(const records&, pass&);
};

constexpr row rows[] = {
    {"FileWriter", row_kind::post, file_writer},
    {"FileWriter + BufferedWriter", row_kind::post, buffered_writer},
    {"FileOutputStream", row_kind::post, write_each},
    {"FileOutputStream + BufferedOutputStream", row_kind::post, buffered_output_stream},
    {"FileChannel", row_kind::post, [](const records& lines, pass& p) { channel(lines, p, lines.record_bytes()); }},
    {"FileChannel + Byte Buffer 재사용", row_kind::post, [](const records& lines, pass& p) { channel(lines, p, 1000); }},
    {"write(2) per record", row_kind::other, write_each},
    {"pwrite(2) per record", row_kind::other, pwrite_each},
    {"writev(2) 32 records", row_kind::other, writev_32},
    {"stdio fwrite default buffer", row_kind::other, [](const records& lines, pass& p) { stdio(lines, p, 0); }},
    {"stdio fwrite 64 KiB", row_kind::other, [](const records& lines, pass& p) { stdio(lines, p, std::size_t{64} << 10); }},
    {"std::ofstream", row_kind::other, ofstream},
    {"mmap", row_kind::other, [](const records& lines, pass& p) { mapped(lines, p, false); }},
    {"mmap MADV_POPULATE_WRITE", row_kind::other, [](const records& lines, pass& p) { mapped(lines, p, true); }},
};

}  // namespace

column japm_column(std::size_t record_bytes, const options& chosen) {
  const auto lines = std::make_shared<const records>(record_bytes);
  column size{.label = std::to_string(record_bytes / 1000) + "K", .bytes = lines->total_bytes(), .expected = lines->expected()};
  size.stream = [lines](std::uint64_t offset, std::size_t bytes) { return lines->piece(offset, bytes); };
  for (const row& one : rows)
    size.cells.push_back({.row = one.name, .kind = one.kind, .run = [lines, run = one.run](pass& p) { run(*lines, p); }});
  add_sink_rows(size, chosen, [lines](sink_writer& out, const pass&) {
    for (std::size_t i = 0; i < records::count; ++i) out.write((*lines)[i]);
  });
  add_logger_rows(size, chosen, lines);
  return size;
}

suite japm_suite(const options& chosen) {
  suite what{.name = "japm",
             .title = "1000 log records of one size through each writer",
             .unit = "ms/1000 records",
             .post_clock = clock_kind::ret};
  what.notes = {"1K is 1 000 bytes, as in the post. The post's clock is `return`: it closed outside.",
                "The post's figures lie on a grid of 15.6 ms, its clock's tick: its 1K and 2K columns are 1 to 4 ticks."};
  for (const std::size_t record_bytes : {1000U, 2000U, 5000U, 10000U, 50000U}) {
    if (chosen.smoke && record_bytes > 2000) break;
    what.columns.push_back(japm_column(record_bytes, chosen));
  }
  return what;
}

}  // namespace penstock::bench
