// SPDX-License-Identifier: MIT
// What the cases write: made before the clock, from fixed seeds, so that every run and every row has the same bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bench/suites/pass.hpp"

namespace penstock::bench {

/// The byte of the stream at an offset inside its period: cheap enough to be made in a loop, and nothing that a file system can compress.
inline std::byte content_byte(std::uint32_t offset) noexcept { return static_cast<std::byte>((offset * 2654435761U) >> 24); }

/// The stream that copies and sequential cases use: a period of 200 000 bytes that repeats for ever. The memory behind it is small enough
/// to stay in the cache, as the buffer of the posts does; any block of at most `block_bytes_max` is contiguous in it.
class content {
 public:
  static constexpr std::size_t period_bytes = 200'000;  // a multiple of 5 000, 10 000 and 50 000: the buffers of the posts
  static constexpr std::size_t block_bytes_max = std::size_t{4} << 20;

  static const content& instance();

  /// `bytes` of the stream from `offset` on.
  std::span<const std::byte> block(std::uint64_t offset, std::size_t bytes) const noexcept {
    return std::span(data_).subspan(offset % period_bytes, bytes);
  }
  /// The same, for column::stream.
  static std::span<const std::byte> piece(std::uint64_t offset, std::size_t bytes) {
    return instance().block(offset, std::min(bytes, block_bytes_max));
  }
  /// The digest of the first `bytes` bytes.
  digest expected(std::uint64_t bytes) const;
  /// The plain sum of the first `bytes` bytes, for cases that read byte by byte.
  std::uint64_t byte_sum(std::uint64_t bytes) const;

 private:
  content();
  std::vector<std::byte> data_;
};

/// 1000 log lines of one length, each ending in a newline; the printable text before it comes from a pool that stays in the cache.
class records {
 public:
  static constexpr std::size_t count = 1000;

  explicit records(std::size_t record_bytes);

  std::size_t record_bytes() const noexcept { return record_bytes_; }
  std::span<const std::byte> operator[](std::size_t index) const noexcept {
    return std::span(pool_).subspan((index % pool_count_) * record_bytes_, record_bytes_);
  }
  /// A piece of all records in a row: from `offset` to the end of a record at most.
  std::span<const std::byte> piece(std::uint64_t offset, std::size_t bytes) const noexcept {
    const std::span<const std::byte> rest = (*this)[static_cast<std::size_t>(offset / record_bytes_)].subspan(offset % record_bytes_);
    return rest.first(std::min(rest.size(), bytes));
  }
  std::uint64_t total_bytes() const noexcept { return std::uint64_t{count} * record_bytes_; }
  const digest& expected() const noexcept { return expected_; }

 private:
  std::size_t record_bytes_;
  std::size_t pool_count_;
  std::vector<std::byte> pool_;
  digest expected_{};
};

}  // namespace penstock::bench
