// SPDX-License-Identifier: MIT
#include "sinks/crc32c.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace penstock::sinks {
namespace {

constexpr std::uint32_t reflected_polynomial = 0x82F63B78;

using crc_table = std::array<std::array<std::uint32_t, 256>, 8>;

/// Eight tables, so that eight bytes are taken at a time ("slicing by 8").
constexpr crc_table make_table() {
  crc_table table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? reflected_polynomial : 0);
    table[0][byte] = crc;
  }
  for (std::size_t slice = 1; slice < table.size(); ++slice) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = table[slice - 1][byte];
      table[slice][byte] = (before >> 8) ^ table[0][before & 0xFF];
    }
  }
  return table;
}

constexpr crc_table table = make_table();

std::uint64_t load_eight(const std::byte* from) noexcept {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

#if defined(__x86_64__)
[[gnu::target("sse4.2")]] std::uint32_t crc32c_by_instruction(std::span<const std::byte> data) noexcept {
  std::uint64_t crc = ~std::uint32_t{0};
  const std::byte* from = data.data();
  std::size_t left = data.size();
  for (; left >= 8; left -= 8, from += 8) crc = _mm_crc32_u64(crc, load_eight(from));
  auto narrow = static_cast<std::uint32_t>(crc);
  for (; left != 0; --left, ++from) narrow = _mm_crc32_u8(narrow, std::to_integer<std::uint8_t>(*from));
  return ~narrow;
}
#elif defined(__ARM_FEATURE_CRC32)
std::uint32_t crc32c_by_instruction(std::span<const std::byte> data) noexcept {
  std::uint32_t crc = ~std::uint32_t{0};
  const std::byte* from = data.data();
  std::size_t left = data.size();
  for (; left >= 8; left -= 8, from += 8) crc = __crc32cd(crc, load_eight(from));
  for (; left != 0; --left, ++from) crc = __crc32cb(crc, std::to_integer<std::uint8_t>(*from));
  return ~crc;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::span<const std::byte> data) noexcept {
  std::uint32_t crc = ~std::uint32_t{0};
  const std::byte* from = data.data();
  std::size_t left = data.size();
  for (; left >= 8; left -= 8, from += 8) {
    const std::uint64_t word = load_eight(from) ^ crc;  // little-endian machines only, as the ring format
    crc = 0;
    for (std::size_t slice = 0; slice < 8; ++slice) crc ^= table[7 - slice][(word >> (8 * slice)) & 0xFF];
  }
  for (; left != 0; --left, ++from) crc = (crc >> 8) ^ table[0][(crc ^ std::to_integer<std::uint32_t>(*from)) & 0xFF];
  return ~crc;
}

std::uint32_t crc32c(std::span<const std::byte> data) noexcept {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return crc32c_by_instruction(data);
  return crc32c_by_table(data);
#elif defined(__ARM_FEATURE_CRC32)
  return crc32c_by_instruction(data);
#else
  return crc32c_by_table(data);
#endif
}

}  // namespace penstock::sinks
