// SPDX-License-Identifier: MIT
#include "bench/suites/content.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "bench/suites/checksum.hpp"

namespace penstock::bench {
namespace {

constexpr std::uint32_t seed = 20130313;  // any fixed number

}  // namespace

const content& content::instance() {
  static const content only;
  return only;
}

content::content() : data_(period_bytes + block_bytes_max) {
  for (std::size_t i = 0; i < period_bytes; ++i) data_[i] = content_byte(static_cast<std::uint32_t>(i));
  for (std::size_t i = period_bytes; i < data_.size(); ++i) data_[i] = data_[i - period_bytes];
}

digest content::expected(std::uint64_t bytes) const {
  checksum sum;
  for (std::uint64_t offset = 0; offset < bytes;) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(std::uint64_t{1} << 20, bytes - offset));
    sum.add(block(offset, n));
    offset += n;
  }
  return sum.result();
}

std::uint64_t content::byte_sum(std::uint64_t bytes) const {
  const auto sum_of = [&](std::uint64_t n) {
    return std::accumulate(data_.begin(), data_.begin() + static_cast<std::ptrdiff_t>(n), std::uint64_t{0},
                           [](std::uint64_t sum, std::byte b) { return sum + std::to_integer<std::uint64_t>(b); });
  };
  return bytes / period_bytes * sum_of(period_bytes) + sum_of(bytes % period_bytes);
}

records::records(std::size_t record_bytes)
    : record_bytes_(record_bytes),
      pool_count_(std::clamp<std::size_t>((std::size_t{256} << 10) / record_bytes, 4, count)),
      pool_(pool_count_ * record_bytes) {
  std::mt19937 random(seed);
  for (std::size_t i = 0; i < pool_.size(); ++i)
    pool_[i] = (i + 1) % record_bytes == 0 ? std::byte{'\n'} : static_cast<std::byte>('0' + random() % 75);  // '0' to 'z'
  checksum sum;
  for (std::size_t i = 0; i < count; ++i) sum.add((*this)[i]);
  expected_ = sum.result();
}

}  // namespace penstock::bench
