// SPDX-License-Identifier: MIT
// Lays out a statement in each way that the library may lay it out, in room of chosen size, and compares with fmt.
#pragma once

#include <penstock/detail/layout.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace penstock::detail::testing {

/// Room of exactly the size that is asked for, in a block of its own, so that a sanitizer sees a write beyond it.
class tight_room {
 public:
  // Not inlined: g++ warns of the copies of strings that would not fit, where it sees how small the room is.
  [[gnu::noinline]] explicit tight_room(std::size_t bytes) : block_(new char[bytes]) {
    out_.begin = out_.pos = block_.get();
    out_.end = out_.begin + bytes;
    out_.grow = &tight_room::grow;
    current = this;
  }
  text_out& out() { return out_; }
  std::string_view text() const { return {out_.begin, static_cast<std::size_t>(out_.pos - out_.begin)}; }

 private:
  static void grow(text_out& out, std::size_t more_bytes) {
    const auto used_bytes = static_cast<std::size_t>(out.pos - out.begin);
    std::unique_ptr<char[]> larger(new char[used_bytes + more_bytes]);
    std::copy(out.begin, out.pos, larger.get());
    current->block_ = std::move(larger);
    out.begin = current->block_.get();
    out.pos = out.begin + used_bytes;
    out.end = out.pos + more_bytes;
  }

  static inline thread_local tight_room* current = nullptr;
  std::unique_ptr<char[]> block_;
  text_out out_;
};

/// As the library calls a layout: through a pointer that the compiler can't see through.
inline void call(layout_function layout, const std::byte* arguments, const source_facts& source, text_out& out) {
  layout_function volatile opaque = layout;
  opaque(arguments, source, out);
}

/// Text that needs escapes must not pass for printable.
inline void expect_honest(const text_out& out) {
  const bool is_printable = std::all_of(out.begin, out.pos, [](char c) { return c >= ' ' && c <= '~'; });
  EXPECT_TRUE(is_printable || !out.printable) << std::string_view(out.begin, static_cast<std::size_t>(out.pos - out.begin));
}

/// Encoded in a block of its own of exactly the right size.
template <class Statement, class... A>
std::unique_ptr<std::byte[]> encoded(const A&... arguments) {
  const typename Statement::arguments taken(arguments...);
  std::unique_ptr<std::byte[]> place(new std::byte[taken.bytes()]);
  taken.store(place.get());
  return place;
}

/// The text of a macro's statement; the three ways must agree, or the test fails.
template <class Format, class... A>
std::string laid_out(Format, const A&... arguments) {
  using statement = compiled_statement<Format, A...>;
  using runtime = runtime_statement<A...>;
  std::string text;
  {
    tight_room now(0);
    statement::lay_out_now(now.out(), arguments...);
    text = now.text();
    expect_honest(now.out());
  }
  {
    tight_room now(1);
    runtime::lay_out_now(now.out(), Format::text(), arguments...);
    expect_honest(now.out());
    EXPECT_EQ(now.text(), text) << "by the walk at run time: " << Format::text();
  }
  if constexpr (statement::deferrable) {
    for (const std::size_t bytes : {std::size_t{0}, text.size(), text.size() + 1000}) {
      const auto place = encoded<statement>(arguments...);
      tight_room room(bytes);
      call(&statement::lay_out, place.get(), source_facts{}, room.out());
      expect_honest(room.out());
      EXPECT_EQ(room.text(), text) << "encoded: " << Format::text();
    }
    const auto place = encoded<runtime>(arguments...);
    tight_room room(0);
    call(&runtime::lay_out, place.get(), source_facts{Format::text(), "", "", 0}, room.out());
    EXPECT_EQ(room.text(), text) << "encoded, by the walk at run time: " << Format::text();
  }
  return text;
}

}  // namespace penstock::detail::testing

/// Laid out in every way, the text is fmt's.
#define EXPECT_AS_FMT(literal, ...)                                                                            \
  EXPECT_EQ(::penstock::detail::testing::laid_out(PENSTOCK_DETAIL_FORMAT(literal) __VA_OPT__(, ) __VA_ARGS__), \
            ::fmt::format(::fmt::runtime(literal) __VA_OPT__(, ) __VA_ARGS__))                                 \
      << (literal)
