// SPDX-License-Identifier: MIT
// Counts and checks the lines that a run left in its file. Loggers differ in what they put before the message and in how they spell a
// number, so the message is read, not compared as text.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/latency/workload.hpp"

namespace penstock::bench {

struct line_counts {
  std::uint64_t whole = 0;       ///< lines that were sent, each counted once
  std::uint64_t repeated = 0;    ///< the same line again
  std::uint64_t wrong = 0;       ///< a message of the run whose text is not what was sent
  std::uint64_t disordered = 0;  ///< behind a later line of the same thread
};

class line_checker {
 public:
  explicit line_checker(const workload& of);

  /// A line without its newline; lines that no call of the run made (a file header, the warm-up) are passed over.
  void take(std::string_view line);
  const line_counts& counts() const noexcept { return counts_; }

 private:
  void take_order(std::string_view message);
  void take_numbers(std::string_view message);
  void take_record(std::string_view line);
  void count(std::size_t thread, std::uint64_t index);

  workload work_;
  std::string record_{};
  std::vector<std::vector<bool>> seen_{};    ///< by thread and index
  std::vector<std::uint64_t> next_index_{};  ///< by thread
  line_counts counts_{};
};

/// Errors: std::system_error naming the file.
line_counts check_lines(const workload& of, const std::filesystem::path& file);

}  // namespace penstock::bench
