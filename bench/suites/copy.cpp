// SPDX-License-Identifier: MIT
// The file copy post: 232 MiB by each of Java's copying APIs, open to close. The post deleted the target inside its stopwatch and never
// looked at the copy; here the deletion is outside and the copy is verified.
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
  copy_by_buffer(p, BufferBytes, allocation::timed);
}

constexpr row rows[] = {
    {"io", row_kind::post, copy_by_bytes},
    {"scatterGather", row_kind::post, by_buffer<8192>},
    {"mapBuffer", row_kind::post, copy_by_mapping},
    {"channel", row_kind::post, [](pass& p) { copy_whole(p, allocation::timed); }},
    {"transferTo", row_kind::post, copy_by_sendfile},
    {"transferFrom", row_kind::post, copy_by_mapped_slices},
    {"read/write 4096", row_kind::other, by_buffer<4096>},
    {"read/write 32 KiB", row_kind::other, by_buffer<(32U << 10)>},
    {"read/write 64 KiB", row_kind::other, by_buffer<(64U << 10)>},
    {"read/write 256 KiB", row_kind::other, by_buffer<(256U << 10)>},
    {"read/write 1 MiB", row_kind::other, by_buffer<(1U << 20)>},
    {"copy_file_range", row_kind::other, copy_by_copy_file_range},
    {"mmap populate + 1 MiB writes", row_kind::other, copy_by_populated_mapping},
};

}  // namespace

suite copy_suite(const options& chosen) {
  suite what{.name = "copy", .title = "one file copied by each API", .unit = "ms", .post_clock = clock_kind::close};
  what.notes = {"`close` runs from opening both files to closing both, buffers included, as in the post; only sinks are opened in `setup`.",
                "The post says neither whether its source was cached nor how often it ran; its target was deleted inside the clock."};
  column size{.label = "232 Mbytes", .bytes = std::uint64_t{232} << 20, .has_source = true};
  if (chosen.smoke) size = {.label = "3 MB", .bytes = 3'000'017, .has_source = true};  // odd, so that every tail is copied too
  size.expected = content::instance().expected(size.bytes);
  size.stream = content::piece;
  for (const row& one : rows) size.cells.push_back({.row = one.name, .kind = one.kind, .run = one.run});
  add_sink_rows(size, chosen, copy_into_sink);
  what.columns.push_back(std::move(size));
  return what;
}

}  // namespace penstock::bench
