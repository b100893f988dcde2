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

// The same for a word: ones in the high bits of its bytes where one is not printable. A byte above 0x7F may carry into the next, but is
// seen itself.
template <class Word>
Word unprintable(Word text) noexcept {
  constexpr auto each = static_cast<Word>(0x0101'0101'0101'0101U);
  return static_cast<Word>((text | (text + each) | ~(text + 0x60 * each)) & 0x80 * each);
}

template <class Word>
Word load_word(const char* text) noexcept {
  Word loaded;
  std::memcpy(&loaded, text, sizeof loaded);
  return loaded;
}

// Both ends, which may overlap. In registers: bytes that are gathered in memory are waited for when they are read as one vector.
template <class Word>
bool ends_printable(const char* text, std::size_t bytes) noexcept {
  return (unprintable(load_word<Word>(text)) | unprintable(load_word<Word>(text + bytes - sizeof(Word)))) == 0;
}

}  // namespace

bool is_printable(const char* text, std::size_t bytes) noexcept {
  if (bytes < 4) {
    for (std::size_t i = 0; i < bytes; ++i)
      if (text[i] < 0x20 || text[i] > 0x7E) return false;
    return true;
  }
  if (bytes < 8) return ends_printable<std::uint32_t>(text, bytes);
  if (bytes < 16) return ends_printable<std::uint64_t>(text, bytes);
  // The last 16 bytes may overlap those before.
  lanes all = printable(load(text + bytes - 16));
  for (std::size_t i = 0; i + 16 <= bytes; i += 16) all &= printable(load(text + i));
  return all_true(all);
}

}  // namespace penstock::detail
