// SPDX-License-Identifier: MIT
// One pass of one cell: the files it may use, and its four clocks. A case calls started(), returned() and closed() in this order; the
// runner does the rest (preparing the file, syncing, verifying), outside the clock.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "bench/suites/options.hpp"

namespace penstock::bench {

/// setup: opening, allocating, mapping. The others run from started(): until the last write call returned (`ret`), until everything is with
/// the kernel and the file is closed (`close`), until fdatasync(2) of the closed file returned (`sync`).
enum class clock_kind : std::size_t { setup, ret, close, sync };
inline constexpr std::array all_clocks{clock_kind::setup, clock_kind::ret, clock_kind::close, clock_kind::sync};

/// The name in tables and CSV: "setup", "return", "close", "sync".
std::string_view text(clock_kind clock) noexcept;

/// A row that this machine cannot run (no io_uring, no copy_file_range between these files). It is noted, and is no failure.
class unavailable : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Length and checksum of a stream of bytes; see checksum.hpp.
struct digest {
  std::uint64_t bytes = 0;
  std::uint64_t sum = 0;

  friend bool operator==(const digest&, const digest&) = default;
};

class pass {
 public:
  using clock = std::chrono::steady_clock;

  pass(std::filesystem::path target_file, std::filesystem::path source_file, file_policy policy)
      : target(std::move(target_file)), source(std::move(source_file)), file(policy) {}

  void begin() noexcept { begin_ = clock::now(); }
  void started() noexcept { started_ = clock::now(); }
  void returned() noexcept { returned_ = clock::now(); }
  void closed() noexcept { closed_ = clock::now(); }
  void synced() noexcept { synced_ = clock::now(); }

  /// The reading of a clock; none where the case does not have it.
  std::optional<std::chrono::nanoseconds> reading(clock_kind which) const noexcept;

  const std::filesystem::path target;
  const std::filesystem::path source;
  const file_policy file;
  std::optional<digest> read{};  ///< what a reading case saw; the runner compares it

 private:
  clock::time_point begin_{};
  clock::time_point started_{};
  clock::time_point returned_{};
  clock::time_point closed_{};
  clock::time_point synced_{};
};

}  // namespace penstock::bench
