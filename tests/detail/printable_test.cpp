// SPDX-License-Identifier: MIT
// What is known of text before it stands in a line.
#include <penstock/detail/printable.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tests/detail/laid_out.hpp"

namespace penstock::detail {
namespace {

// In a block of exactly its size, so that a sanitizer sees a read beyond it.
bool check(const std::string& text) {
  const std::unique_ptr<char[]> block(new char[text.size()]);
  std::copy(text.begin(), text.end(), block.get());
  return is_printable(block.get(), text.size());
}

TEST(Printable, EveryByteAtEveryPlaceOfEveryShortText) {
  for (std::size_t bytes = 0; bytes <= 50; ++bytes) {
    EXPECT_TRUE(check(std::string(bytes, '~')));
    for (std::size_t place = 0; place < bytes; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(bytes, ' ');
        text[place] = static_cast<char>(byte);
        ASSERT_EQ(check(text), byte >= 0x20 && byte <= 0x7E) << "byte " << byte << " at " << place << " of " << bytes;
      }
    }
  }
}

template <class Format, class... A>
bool known_printable(Format, const A&... arguments) {
  testing::tight_room room(200);
  compiled_statement<Format, A...>::lay_out_now(room.out(), arguments...);
  return room.out().printable;
}

TEST(Printable, IsKnownOfNumbersAndOfCleanStrings) {
  EXPECT_TRUE(known_printable(PENSTOCK_DETAIL_FORMAT("order {} price {} {:.2f} {}"), 7, -1.5, 2.25, true));
  EXPECT_TRUE(known_printable(PENSTOCK_DETAIL_FORMAT("{} {:<8} {:>8}"), "sym", std::string("left"), std::string_view("right")));
}

TEST(Printable, IsDeniedByWhateverMayNeedEscapes) {
  EXPECT_FALSE(known_printable(PENSTOCK_DETAIL_FORMAT("two\nlines {}"), 7));
  EXPECT_FALSE(known_printable(PENSTOCK_DETAIL_FORMAT("{}"), "two\nlines"));
  EXPECT_FALSE(known_printable(PENSTOCK_DETAIL_FORMAT("{:<8}"), std::string("\x1b[31m")));
  EXPECT_FALSE(known_printable(PENSTOCK_DETAIL_FORMAT("{}"), '\n'));
  EXPECT_FALSE(known_printable(PENSTOCK_DETAIL_FORMAT("{:c}"), 10));
  EXPECT_FALSE(known_printable(PENSTOCK_DETAIL_FORMAT("{}"), "\xc3\xa9"));
}

TEST(Printable, LiteralsAreLookedAtWhileCompiling) {
  static_assert(is_printable_literal("a text, ~"));
  static_assert(!is_printable_literal("a\ttab"));
  static_assert(!is_printable_literal("\x7f"));
  static_assert(is_printable_literal(""));
}

}  // namespace
}  // namespace penstock::detail
