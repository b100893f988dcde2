// SPDX-License-Identifier: MIT
// Where each line of the batches on their way ends, and its level: so that what was written and what was lost are counted by level,
// exactly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include <penstock/stats.hpp>

namespace penstock::backend {

class line_marks {
 public:
  line_marks() : ring_(4096), mask_(ring_.size() - 1) {}

  /// A line of `of_record` ends at `end_bytes`, counted from the sink's first byte. False: there is no memory for that.
  bool add(std::uint64_t end_bytes, level of_record) noexcept {
    if (count_ > mask_ && !grow()) [[unlikely]]
      return false;
    ring_[(first_ + count_) & mask_] = static_cast<std::uint32_t>(end_bytes << level_bits) | static_cast<std::uint32_t>(of_record);
    ++count_;
    ++held_[of_record];
    return true;
  }

  /// Moves the lines that end at or before `end_bytes` into `counts`. Lines in flight span less than 256 MiB, so that ends can be compared
  /// modulo 2^29.
  void take_until(std::uint64_t end_bytes, level_counts& counts) noexcept {
    const auto limit = static_cast<std::uint32_t>(end_bytes << level_bits) | level_mask;
    while (count_ > 0) {
      const std::uint32_t mark = ring_[first_ & mask_];
      if (static_cast<std::int32_t>(limit - mark) < 0) return;
      ++counts.at[mark & level_mask];
      --held_.at[mark & level_mask];
      ++first_;
      --count_;
    }
  }

  /// Moves all lines into `counts`.
  void take_all(level_counts& counts) noexcept {
    for (; count_ > 0; ++first_, --count_) ++counts.at[ring_[first_ & mask_] & level_mask];
    held_ = {};
  }

  const level_counts& counts() const noexcept { return held_; }
  bool empty() const noexcept { return count_ == 0; }

 private:
  static constexpr unsigned level_bits = 3;
  static constexpr std::uint32_t level_mask = (1U << level_bits) - 1;

  [[gnu::noinline]] bool grow() noexcept {
    try {
      std::vector<std::uint32_t> larger(2 * ring_.size());
      for (std::size_t i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) & mask_];
      ring_.swap(larger);
      mask_ = ring_.size() - 1;
      first_ = 0;
      return true;
    } catch (const std::bad_alloc&) {
      return false;
    }
  }

  std::vector<std::uint32_t> ring_;  // A power of two.
  std::size_t mask_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  level_counts held_{};
};

}  // namespace penstock::backend
