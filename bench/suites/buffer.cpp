// SPDX-License-Identifier: MIT
// The buffer size post: 100 MiB copied through buffers of several sizes. Its "100MB" row allocates and zeroes 100 MB inside the clock; here
// the buffer is `setup`, so that row and clock can be told apart.
#include "bench/suites/content.hpp"
#include "bench/suites/copy_ways.hpp"
#include "bench/suites/suites.hpp"

namespace penstock::bench {
namespace {

struct row {
  const char* name;
  row_kind kind;
  void (*run)(pass&);
};

template <std::size_t BufferBytes>
void by_buffer(pass& p) {
  copy_by_buffer(p, BufferBytes, allocation::before);
}

constexpr row rows[] = {
    {"4K", row_kind::post, by_buffer<4096>},
    {"8K", row_kind::post, by_buffer<8192>},
    {"32K", row_kind::post, by_buffer<(32U << 10)>},
    {"100MB", row_kind::post, [](pass& p) { copy_whole(p, allocation::before); }},
    {"100MB (MappedByteBuffer)", row_kind::post, copy_by_mapping},
    {"100MB (MappedByteBuffer, RandomAccessFile)", row_kind::post, copy_by_mapping},
    {"64K", row_kind::other, by_buffer<(64U << 10)>},
    {"256K", row_kind::other, by_buffer<(256U << 10)>},
    {"1M", row_kind::other, by_buffer<(1U << 20)>},
    {"sendfile", row_kind::other, copy_by_sendfile},
    {"copy_file_range", row_kind::other, copy_by_copy_file_range},
};

}  // namespace

suite buffer_suite(const options& chosen) {
  suite what{.name = "buffer", .title = "one file copied through buffers of several sizes", .unit = "ms", .post_clock = clock_kind::close};
  what.notes = {
      "The buffer is allocated and touched in `setup`. The post's clock is `setup` + `close`: its 100MB row is mostly an allocator.",
      "The post's first program creates the target in the first run of its first row and overwrites it ever after; its second deletes.",
      "Both mapped rows make the same system calls (mmap, write); in Java they differ in the class that opens the file.",
      "The post's figures are means of 5 runs; the median, least and greatest over its runs on one machine are shown."};
  column size{.label = "100MB", .bytes = std::uint64_t{100} << 20, .has_source = true};
  if (chosen.smoke) size = {.label = "3 MB", .bytes = 3'000'017, .has_source = true};
  size.expected = content::instance().expected(size.bytes);
  size.stream = content::piece;
  for (const row& one : rows) size.cells.push_back({.row = one.name, .kind = one.kind, .run = one.run});
  add_sink_rows(size, chosen, copy_into_sink);
  what.columns.push_back(std::move(size));
  return what;
}

}  // namespace penstock::bench
