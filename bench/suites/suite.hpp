// SPDX-License-Identifier: MIT
// A suite: the rows and columns of one published table, as cells that can be run; and what came of running them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/suites/options.hpp"
#include "bench/suites/pass.hpp"
#include "bench/suites/statistics.hpp"

namespace penstock::bench {

/// Which block of the table a row stands in.
enum class row_kind : std::size_t { post, generation, other, sink, logger };
inline constexpr std::size_t row_kind_count = 5;
std::string_view text(row_kind kind) noexcept;

struct cell {
  std::string row;
  row_kind kind = row_kind::post;
  std::function<void(pass&)> run{};
  /// The case leaves the target alone and stores what it saw in pass::read.
  bool reads = false;
  /// Checks the target; empty text: as it should be. Without it, the target must have the column's digest.
  std::function<std::string(const pass&)> verify{};
};

struct column {
  std::string label;        ///< as in the post: "1K", "2^20", "1GB"
  std::uint64_t bytes = 0;  ///< of the target file
  digest expected{};        ///< of the target, and of the source if there is one
  bool has_source = false;  ///< the source holds the same `bytes` of content
  /// A piece of the stream that the target gets, from `offset` on and at most `bytes` long; for rings, which keep only its end.
  std::function<std::span<const std::byte>(std::uint64_t offset, std::size_t bytes)> stream{};
  std::vector<cell> cells{};
};

struct suite {
  std::string name;                           ///< "japm"
  std::string title;                          ///< one line: what is measured
  std::string unit;                           ///< of every figure: "ms", "ms/1000 records", "bytes/s"
  bool rate = false;                          ///< the figure is bytes over time, so more is better
  clock_kind post_clock = clock_kind::close;  ///< the clock that the post read
  std::vector<column> columns{};
  std::vector<std::string> notes{};  ///< what a reader of the table must know
};

/// The figures of one cell by one clock.
struct figures {
  std::string row;
  row_kind kind = row_kind::post;
  std::string size;
  clock_kind clock = clock_kind::close;
  std::string unit{};
  summary values{};
  double first = 0;           ///< the cold pass that comes before those that count; 0: there was none
  std::string published{};    ///< empty: measured; otherwise the machine and run that the post names
  bool short_passes = false;  ///< the median pass is below 1 ms, so that a timer tick shows
};

struct suite_result {
  suite what;
  std::vector<figures> rows{};
  std::vector<std::string> failures{};
  std::vector<std::string> notes{};
  bool interrupted = false;

  const figures* find(std::string_view row, std::string_view size, clock_kind clock) const noexcept;
};

/// Runs every cell: for each size the rows in rotated order, pass by pass, verified after each.
///
/// Errors: a case that fails is dropped and told in `failures`; what concerns the whole run (no space, no folder) throws.
suite_result run(suite what, const options& chosen);

}  // namespace penstock::bench
