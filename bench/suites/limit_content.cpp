// SPDX-License-Identifier: MIT
#include "bench/suites/limit_content.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "bench/suites/content.hpp"
#include "bench/suites/raw_io.hpp"

namespace penstock::bench {
namespace {

// Lines are compared in pieces of this size, so the pool holds that much in a row.
constexpr std::size_t piece_bytes_max = std::size_t{64} << 10;

}  // namespace

void fill_batch(std::span<std::byte> batch) noexcept { std::ranges::copy(content::piece(0, batch.size()), batch.begin()); }

const hot_lines& hot_lines::instance() {
  static const hot_lines only;
  return only;
}

hot_lines::hot_lines() : memory_(period_bytes + piece_bytes_max) {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    const std::size_t place = i % period_bytes;
    const bool last = place % line_bytes == line_bytes - 1;
    memory_[i] = last ? std::byte{'\n'} : static_cast<std::byte>('0' + (place * 2654435761U >> 20) % 75);  // '0' to 'z'
  }
}

std::span<const std::byte> hot_lines::piece(std::uint64_t offset, std::size_t bytes) const noexcept {
  return std::span(memory_).subspan(offset % period_bytes, std::min(bytes, piece_bytes_max));
}

void check_batches(const std::filesystem::path& file, std::size_t batch_bytes, std::uint64_t batches) {
  const os::descriptor fd = open_source(file);
  buffer expected(batch_bytes);
  fill_batch(expected.span());
  buffer found(batch_bytes);
  for (std::uint64_t number = 0; number < batches; ++number) {
    number_batch(expected.data(), number);
    const std::size_t got = get(fd.get(), found.span());
    if (got != batch_bytes || std::memcmp(found.data(), expected.data(), batch_bytes) != 0)
      throw std::runtime_error(fmt::format("verification failed: batch {} of {} is not as it was written", number, batches));
  }
  if (get(fd.get(), found.span()) != 0) throw std::runtime_error("verification failed: the file is longer than what was written");
}

void check_lines(const std::filesystem::path& file, std::uint64_t bytes) {
  const os::descriptor fd = open_source(file);
  buffer found(piece_bytes_max);
  std::uint64_t offset = 0;
  for (std::size_t got; (got = get(fd.get(), found.span())) != 0; offset += got) {
    const std::span<const std::byte> expected = hot_lines::instance().piece(offset, got);
    if (std::memcmp(found.data(), expected.data(), got) != 0)
      throw std::runtime_error(fmt::format("verification failed: the lines behind byte {} are not as they were written", offset));
  }
  if (offset != bytes) throw std::runtime_error(fmt::format("verification failed: {} of {} bytes are in the file", offset, bytes));
}

}  // namespace penstock::bench
