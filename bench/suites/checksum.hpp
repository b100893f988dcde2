// SPDX-License-Identifier: MIT
// The checksum that verifies each pass: two running sums over 64-bit words (Fletcher's idea). It tells order and content, gives the same
// result however the stream is divided, and costs so little (20 GB/s here) that reading cases may run it inside the clock to keep their
// reads from being optimised away.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>

#include "bench/suites/pass.hpp"

namespace penstock::bench {

class checksum {
 public:
  void add(std::span<const std::byte> data) noexcept {
    bytes_ += data.size();
    if (pending_bytes_ != 0) data = fill_pending(data);
    std::uint64_t first = first_;
    std::uint64_t second = second_;
    const std::size_t words = data.size() / 8;
    for (std::size_t i = 0; i < words; ++i) {
      std::uint64_t word;
      std::memcpy(&word, data.data() + i * 8, 8);
      first += word;
      second += first;
    }
    first_ = first;
    second_ = second;
    for (std::byte b : data.subspan(words * 8)) pending_[pending_bytes_++] = b;
  }

  digest result() const noexcept {
    std::uint64_t tail = 0;
    std::memcpy(&tail, pending_, pending_bytes_);
    const std::uint64_t first = first_ + tail;
    return {bytes_, (second_ + first) ^ (first * 0x9e3779b97f4a7c15U)};
  }

 private:
  std::span<const std::byte> fill_pending(std::span<const std::byte> data) noexcept {
    const std::size_t n = std::min(8 - pending_bytes_, data.size());
    std::memcpy(pending_ + pending_bytes_, data.data(), n);
    pending_bytes_ += n;
    if (pending_bytes_ == 8) {
      std::uint64_t word;
      std::memcpy(&word, pending_, 8);
      first_ += word;
      second_ += first_;
      pending_bytes_ = 0;
    }
    return data.subspan(n);
  }

  std::uint64_t first_ = 1;
  std::uint64_t second_ = 0;
  std::uint64_t bytes_ = 0;
  std::byte pending_[8]{};
  std::size_t pending_bytes_ = 0;
};

inline digest digest_of(std::span<const std::byte> data) noexcept {
  checksum sum;
  sum.add(data);
  return sum.result();
}

/// Reads a file from its first byte.
///
/// Errors: std::system_error.
digest digest_of_file(const std::filesystem::path& file);

}  // namespace penstock::bench
