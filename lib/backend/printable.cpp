// SPDX-License-Identifier: MIT
#include <cstdint>
#include <cstring>

#include <penstock/detail/printable.hpp>

namespace penstock::detail {

namespace {

using lanes = std::int8_t __attribute__((vector_size(16)));

lanes load(const char* text) noexcept {
  lanes loaded;
  std::memcpy(&loaded, text, sizeof loaded);
  return loaded;
}

// All ones where a byte is from 0x20 to 0x7E: one more than it, the largest wrapping round, is above 0x20 in signed arithmetic.
lanes printable(lanes text) noexcept {
  using wrapping = std::uint8_t __attribute__((vector_size(16)));
  return reinterpret_cast<lanes>(reinterpret_cast<wrapping>(text) + 1) > 0x20;
}

bool all_true(lanes flags) noexcept {
  std::uint64_t halves[2];
  std::memcpy(halves, &flags, sizeof halves);
  return (halves[0] & halves[1]) == ~std::uint64_t{0};
}

}  // namespace

bool is_printable(const char* text, std::size_t bytes) noexcept {
  if (bytes < 16) {
    lanes both;
    std::memset(&both, ' ', sizeof both);
    auto* const place = reinterpret_cast<char*>(&both);
    if (bytes >= 8) {
      std::memcpy(place, text, 8);
      std::memcpy(place + 8, text + bytes - 8, 8);
    } else if (bytes >= 4) {
      std::memcpy(place, text, 4);
      std::memcpy(place + 4, text + bytes - 4, 4);
    } else if (bytes != 0) {
      place[0] = text[0];
      place[1] = text[bytes / 2];
      place[2] = text[bytes - 1];
    }
    return all_true(printable(both));
  }
  // The last 16 bytes may overlap those before.
  lanes all = printable(load(text + bytes - 16));
  for (std::size_t i = 0; i + 16 <= bytes; i += 16) all &= printable(load(text + i));
  return all_true(all);
}

}  // namespace penstock::detail
