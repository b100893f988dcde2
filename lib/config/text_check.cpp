// SPDX-License-Identifier: MIT
#include "lib/config/text_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace penstock::detail {
namespace {

bool goes_on_with_character(char c) noexcept { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }
bool is_ascii(char c) noexcept { return static_cast<unsigned char>(c) < 0x80U; }

/// Walks through the text once, jumping over strings and comments.
class walk {
 public:
  explicit walk(std::string_view text) : text_(text) {}

  std::optional<text_fault> run() {
    if (text_.starts_with("\xef\xbb\xbf")) text_.remove_prefix(3);
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' || c == '\'') {
        advance_to(end_of_string());
      } else if (c == '#') {
        advance_to(text_.find('\n', at_));
      } else if (!is_ascii(c)) {
        return text_fault{here_, fmt::format("{} stands outside of quotes; only \"-quoted strings may hold such characters", character())};
      } else {
        if (auto deep = count(c)) return deep;
        advance_to(at_ + 1);
      }
    }
    return std::nullopt;
  }

 private:
  std::optional<text_fault> count(char c) {
    if (c == '\n' && open_count_ == 0) {
      nesting_count_ = 0;
      statement_ = {here_.line + 1, 1};
    }
    const bool opens = c == '[' || c == '{';
    if (opens) ++open_count_;
    if ((c == ']' || c == '}') && open_count_ > 0) --open_count_;
    if ((!opens && c != '.') || ++nesting_count_ <= nesting_max) return std::nullopt;
    return text_fault{
        statement_, fmt::format("more than {} nested keys, tables or arrays begin here, or a bracket is not closed; a config needs no more "
                                "than a few",
                                nesting_max)};
  }

  void advance_to(std::size_t end) {
    for (end = std::min(end, text_.size()); at_ < end; ++at_) {
      if (text_[at_] == '\n') {
        here_ = {here_.line + 1, 1};
      } else if (at_ + 1 >= text_.size() || !goes_on_with_character(text_[at_ + 1])) {
        ++here_.column;
      }
    }
  }

  /// One past the closing quote, or the end of the line or the text where there is none.
  std::size_t end_of_string() const {
    const char quote = text_[at_];
    const std::string_view triple = quote == '"' ? "\"\"\"" : "'''";
    const bool multi_line = text_.substr(at_, 3) == triple;
    std::size_t i = at_ + (multi_line ? 3 : 1);
    while (i < text_.size()) {
      if (quote == '"' && text_[i] == '\\') {
        i += 2;
      } else if (text_[i] == quote && !multi_line) {
        return i + 1;
      } else if (text_[i] == quote && text_.substr(i, 3) == triple) {
        // Up to two quotes right before the closing three belong to the string.
        for (i += 3; i < text_.size() && text_[i] == quote; ++i) {
        }
        return i;
      } else if (text_[i] == '\n' && !multi_line) {
        return i;
      } else {
        ++i;
      }
    }
    return text_.size();
  }

  /// The character here, or its first byte where it is none.
  std::string character() const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && end < at_ + 4 && goes_on_with_character(text_[end])) ++end;
    if (end == at_ + 1 || goes_on_with_character(text_[at_]))
      return fmt::format("the byte {:#04x}", static_cast<unsigned char>(text_[at_]));
    return std::string{text_.substr(at_, end - at_)};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  position here_{1, 1};
  position statement_{1, 1};
  std::size_t open_count_ = 0;
  std::size_t nesting_count_ = 0;
};

}  // namespace

std::optional<text_fault> check_text(std::string_view text) { return walk{text}.run(); }

}  // namespace penstock::detail
