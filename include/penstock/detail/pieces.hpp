// SPDX-License-Identifier: MIT
// Takes a format text apart, while compiling, into literal pieces and fields. What is not plain (named arguments, a width or precision
// taken from an argument) makes the whole text irregular: it is then laid out by fmt's own parser at run time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace penstock::detail {

struct piece {
  static constexpr std::size_t literal = ~std::size_t{0};

  std::size_t argument = literal;  ///< index of the argument, or `literal`
  std::size_t begin = 0;           ///< of the literal, or of the specification after the colon
  std::size_t bytes = 0;
};

/// The place of the first brace at or behind `at`; the size of `text` when there is none.
constexpr std::size_t find_brace(std::string_view text, std::size_t at) {
  if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
    // Eight bytes at a time: a byte that equals a brace is zero in one of the two differences, and the lowest zero byte is found exactly.
    constexpr std::uint64_t ones = ~std::uint64_t{0} / 0xFF;
    for (; text.size() - at >= 8; at += 8) {
      std::uint64_t bytes = 0;
      std::memcpy(&bytes, text.data() + at, 8);
      const std::uint64_t opening = bytes ^ ones * '{';
      const std::uint64_t closing = bytes ^ ones * '}';
      const std::uint64_t found = (((opening - ones) & ~opening) | ((closing - ones) & ~closing)) & ones << 7;
      if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
    }
  }
  while (at != text.size() && text[at] != '{' && text[at] != '}') ++at;
  return at;
}

/// Walks over a format text.
class piece_scan {
 public:
  constexpr explicit piece_scan(std::string_view text) : text_(text) {}

  constexpr bool done() const { return position_ == text_.size() || !regular_; }
  constexpr bool regular() const { return regular_; }

  constexpr piece next() {
    const std::size_t begin = position_;
    if (text_[begin] == '{' && !doubled(begin)) return field();
    const std::size_t end = find_brace(text_, begin);
    position_ = end;
    if (end != text_.size() && doubled(end)) {  // one of the two braces ends this literal
      position_ = end + 2;
      return {piece::literal, begin, end + 1 - begin};
    }
    if (end != text_.size() && text_[end] == '}') regular_ = false;
    return {piece::literal, begin, end - begin};
  }

 private:
  constexpr bool doubled(std::size_t at) const { return at + 1 != text_.size() && text_[at + 1] == text_[at]; }

  constexpr piece field() {
    std::size_t at = position_ + 1;
    piece found{next_argument_, at, 0};
    if (at != text_.size() && text_[at] >= '0' && text_[at] <= '9') {
      found.argument = 0;
      for (; at != text_.size() && text_[at] >= '0' && text_[at] <= '9' && found.argument < 1000; ++at)
        found.argument = found.argument * 10 + static_cast<std::size_t>(text_[at] - '0');
      has_numbers_ = true;
      if (text_[found.begin] == '0' && at != found.begin + 1) regular_ = false;  // fmt refuses leading zeros
    } else {
      ++next_argument_;
    }
    if (has_numbers_ && next_argument_ != 0) regular_ = false;  // fmt has an error for a mixture
    found.begin = at;
    if (at != text_.size() && text_[at] == ':') {
      found.begin = ++at;
      if (at + 1 < text_.size() && (text_[at + 1] == '<' || text_[at + 1] == '>' || text_[at + 1] == '^') && text_[at] == '}')
        regular_ = false;  // to fmt, this brace is a fill
      at = find_brace(text_, at);
      found.bytes = at - found.begin;
    }
    if (at == text_.size() || text_[at] != '}') {
      regular_ = false;
      position_ = text_.size();
    } else {
      position_ = at + 1;
    }
    return found;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::size_t next_argument_ = 0;
  bool has_numbers_ = false;
  bool regular_ = true;
};

/// Also false when a field's argument is not among `argument_count`.
constexpr bool is_regular(std::string_view text, std::size_t argument_count) {
  piece_scan scan(text);
  while (!scan.done()) {
    const piece found = scan.next();
    if (found.argument != piece::literal && found.argument >= argument_count) return false;
  }
  return scan.regular();
}

/// 0 for an irregular text.
constexpr std::size_t count_pieces(std::string_view text) {
  std::size_t count = 0;
  piece_scan scan(text);
  for (; !scan.done(); ++count) static_cast<void>(scan.next());
  return scan.regular() ? count : 0;
}

/// True when a field's type may be 'p'.
constexpr bool asks_for_address(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i)
    if (text[i] == '}' && text[i - 1] == 'p') return true;
  return false;
}

template <std::size_t Count>
struct piece_list {
  piece items[Count == 0 ? 1 : Count]{};
};

template <std::size_t Count>
constexpr piece_list<Count> split(std::string_view text) {
  piece_list<Count> list;
  piece_scan scan(text);
  for (std::size_t i = 0; i != Count; ++i) list.items[i] = scan.next();
  return list;
}

}  // namespace penstock::detail
