// SPDX-License-Identifier: MIT
// The sequential post: eight Java classes that write and read files of 10 MB to 1 GB. The post made its bytes inside the clock and compared
// rows that overwrite with rows that reallocate; here the I/O stands alone, generation has its own rows, and one file policy holds for all.
#include "bench/suites/content.hpp"
#include "bench/suites/sequential_ways.hpp"
#include "bench/suites/sink_rows.hpp"
#include "bench/suites/suites.hpp"

namespace penstock::bench {
namespace {

constexpr std::size_t post_block_bytes = 5000;  // the post's BUF_SIZE; no page
constexpr std::size_t sink_block_bytes = std::size_t{4} << 10;

using writing = void (*)(pass&, std::uint64_t, generation);
using reading = void (*)(pass&);

struct post_row {
  const char* name;
  writing write;
  reading read;
  bool by_bytes = false;  // the read sees the plain sum of the bytes
};

template <std::size_t BlockBytes>
void blocks(pass& p, std::uint64_t bytes, generation made) {
  write_blocks(p, bytes, BlockBytes, made);
}
template <std::size_t BlockBytes>
void blocks_read(pass& p) {
  read_blocks(p, BlockBytes);
}

constexpr post_row post_rows[] = {
    {"RandomAccessFile JDK1.0", blocks<post_block_bytes>, blocks_read<post_block_bytes>},
    {"BufferedStreamFile JDK 1.0", write_by_bytes, read_by_bytes, true},
    {"BufferedChannelFile NIO", [](pass& p, std::uint64_t n, generation made) { write_by_channel(p, n, post_block_bytes, made); },
     [](pass& p) { read_by_channel(p, post_block_bytes); }},
    {"MemoryMappedFile NIO", [](pass& p, std::uint64_t n, generation made) { write_mapped(p, n, post_block_bytes, made, false); },
     [](pass& p) { read_mapped(p, post_block_bytes); }},
    // The post reads this one byte by byte through 8192 bytes, a copy of another row; what its name says is a row below.
    {"StreamFile1xPage JDK 1.0", blocks<post_block_bytes>, read_by_bytes, true},
    {"StreamFile2xPage JDK1.0", blocks<2 * post_block_bytes>, blocks_read<2 * post_block_bytes>},
    {"StreamFile10xPage JDK1.0", blocks<10 * post_block_bytes>, blocks_read<10 * post_block_bytes>},
    {"Files readAll/writeAll JDK1.7", write_whole, read_whole},
};

struct other_write {
  const char* name;
  writing write;
};
constexpr other_write other_writes[] = {
    {"write(2) 64 KiB write", blocks<(64U << 10)>},
    {"write(2) 256 KiB write", blocks<(256U << 10)>},
    {"write(2) 1 MiB write", blocks<(1U << 20)>},
    {"mmap MADV_POPULATE_WRITE write", [](pass& p, std::uint64_t n, generation made) { write_mapped(p, n, post_block_bytes, made, true); }},
};

struct other_read {
  const char* name;
  reading read;
};
constexpr other_read other_reads[] = {
    {"StreamFile1xPage by 5 000 bytes read", blocks_read<post_block_bytes>},
    {"read(2) 64 KiB read", blocks_read<(64U << 10)>},
    {"read(2) 256 KiB read", blocks_read<(256U << 10)>},
};

std::function<std::string(const pass&)> check_byte_sum(std::uint64_t bytes) {
  const digest expected{bytes, content::instance().byte_sum(bytes)};
  return [expected](const pass& done) { return done.read == expected ? std::string() : "the sum of the bytes is wrong"; };
}

void add_post_rows(column& size) {
  const std::uint64_t bytes = size.bytes;
  for (const post_row& one : post_rows) {
    size.cells.push_back({.row = std::string(one.name) + " write", .kind = row_kind::post, .run = [bytes, write = one.write](pass& p) {
                            write(p, bytes, generation::before);
                          }});
    cell read{.row = std::string(one.name) + " read", .kind = row_kind::post, .run = one.read, .reads = true};
    if (one.by_bytes) read.verify = check_byte_sum(bytes);
    size.cells.push_back(std::move(read));
  }
}

void add_generation_rows(column& size) {
  const std::uint64_t bytes = size.bytes;
  size.cells.push_back({.row = "gen only (no I/O) write",
                        .kind = row_kind::generation,
                        .run = [bytes](pass& p) { generate_only(p, bytes, post_block_bytes); },
                        .reads = true,
                        .verify = check_byte_sum(bytes)});
  size.cells.push_back({.row = "checksum only (no I/O) read",
                        .kind = row_kind::generation,
                        .run = [bytes](pass& p) { checksum_only(p, bytes, post_block_bytes); },
                        .reads = true});
  for (const post_row& one : post_rows)
    size.cells.push_back({.row = std::string(one.name) + " write + generation",
                          .kind = row_kind::generation,
                          .run = [bytes, write = one.write](pass& p) { write(p, bytes, generation::timed); }});
}

void add_other_rows(column& size) {
  const std::uint64_t bytes = size.bytes;
  for (const other_write& one : other_writes)
    size.cells.push_back(
        {.row = one.name, .kind = row_kind::other, .run = [bytes, write = one.write](pass& p) { write(p, bytes, generation::before); }});
  for (const other_read& one : other_reads)
    size.cells.push_back({.row = one.name, .kind = row_kind::other, .run = one.read, .reads = true});
}

void into_sink(sink_writer& out, std::uint64_t bytes) {
  for (std::uint64_t offset = 0; offset < bytes;) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(sink_block_bytes, bytes - offset));
    out.stream(content::instance().block(offset, n));
    offset += n;
  }
}

}  // namespace

suite sequential_suite(const options& chosen) {
  suite what{.name = "sequential",
             .title = "one file written, or read, from front to end",
             .unit = "bytes/s",
             .rate = true,
             .post_clock = clock_kind::close};
  what.notes = {
      "MB and GB are decimal, as in the post. More is better. Reading rows sum what they read inside the clock (`checksum only`).",
      "The post's write figures include making the bytes: compare them with the rows `… write + generation`.",
      "`StreamFile1xPage … read` reads byte by byte, as the post's code does; `by 5 000 bytes` does what the name says."};
  struct size {
    const char* label;
    std::uint64_t bytes;
  };
  for (const size& one : {size{"10 MB", 10'000'000}, size{"20 MB", 20'000'000}, size{"50 MB", 50'000'000}, size{"100 MB", 100'000'000},
                          size{"1GB", 1'000'000'000}}) {
    column next{.label = one.label, .bytes = one.bytes, .has_source = true};
    // Smaller and odd in a smoke run, so that every loop has a tail.
    if (chosen.smoke) next = {.label = "1 MB", .bytes = 1'001'234, .has_source = true};
    next.expected = content::instance().expected(next.bytes);
    next.stream = content::piece;
    add_post_rows(next);
    add_generation_rows(next);
    add_other_rows(next);
    add_sink_rows(next, chosen, [bytes = next.bytes](sink_writer& out, const pass&) { into_sink(out, bytes); });
    what.columns.push_back(std::move(next));
    if (chosen.smoke) break;
  }
  return what;
}

}  // namespace penstock::bench
