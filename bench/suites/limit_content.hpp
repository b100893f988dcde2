// SPDX-License-Identifier: MIT
// What the loops of `bench sinks --limits` write, and how it is found again in the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <vector>

namespace penstock::bench {

/// The content of a batch: the stream of content.hpp, begun anew in each batch, with the batch's number in front. So a batch that is
/// missing, doubled or out of place is found out, and marking it costs one store.
void fill_batch(std::span<std::byte> batch) noexcept;
inline void number_batch(std::byte* batch, std::uint64_t number) noexcept { std::memcpy(batch, &number, sizeof number); }

/// Lines of 120 bytes: few enough to stay in the first cache, as the arguments of a line that is being laid out do.
class hot_lines {
 public:
  static constexpr std::size_t line_bytes = 120;
  static constexpr std::size_t line_count = 64;
  static constexpr std::size_t period_bytes = line_bytes * line_count;

  static const hot_lines& instance();

  const std::byte* line(std::uint64_t number) const noexcept { return memory_.data() + number % line_count * line_bytes; }
  /// The lines as a stream, from `offset` on and at most `bytes` of it.
  std::span<const std::byte> piece(std::uint64_t offset, std::size_t bytes) const noexcept;

 private:
  hot_lines();
  std::vector<std::byte> memory_;
};

/// Throws std::runtime_error unless the file holds `batches` batches of `batch_bytes`, numbered from 0 on, and nothing else.
void check_batches(const std::filesystem::path& file, std::size_t batch_bytes, std::uint64_t batches);
/// Throws std::runtime_error unless the file holds the first `bytes` bytes of the lines, and nothing else.
void check_lines(const std::filesystem::path& file, std::uint64_t bytes);

}  // namespace penstock::bench
