// SPDX-License-Identifier: MIT
// Fills a sink's batches by the rules that the backend keeps: a batch of cut::pages to its last byte, one of cut::lines with whole lines.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/sink.hpp>

namespace penstock::testing {

class backend_double {
 public:
  explicit backend_double(sink& target) : target_(target) {}

  /// Lays out one line (with its newline). Stops at the first error.
  outcome line(std::string_view text) {
    while (!text.empty()) {
      if (room_.room.empty()) {
        room_ = target_.lend({.line_bytes = text.size()});
        if (room_.room.empty()) return {errc::pending, 0};
      }
      const std::size_t left = room_.room.size() - used_;
      if (room_.end == cut::lines && text.size() > left && used_ > 0) {
        if (const outcome result = submit(); !result.ok()) return result;
        continue;
      }
      const std::size_t now = std::min(left, text.size());
      std::memcpy(room_.room.data() + used_, text.data(), now);
      used_ += now;
      text.remove_prefix(now);
      if (used_ == room_.room.size())
        if (const outcome result = submit(); !result.ok()) return result;
    }
    return {};
  }

  /// The batch is due.
  outcome submit() {
    room_ = {};
    return target_.submit(std::exchange(used_, std::size_t{0}));
  }

  /// A line at once.
  outcome line_now(std::string_view text) {
    const outcome result = line(text);
    return result.ok() ? submit() : result;
  }

  cut room_end() const noexcept { return room_.end; }

 private:
  sink& target_;
  batch room_{};
  std::size_t used_ = 0;
};

/// Lines of random length that name themselves, so that a comparison shows what is missing.
class random_lines {
 public:
  explicit random_lines(unsigned seed) : random_(seed) {}
  std::string next(std::size_t bytes_max) {
    std::string text = std::to_string(count_++) + ' ';
    const std::size_t bytes = text.size() + random_() % bytes_max;
    while (text.size() < bytes) text += static_cast<char>('a' + text.size() % 26);
    return text + '\n';
  }
  bool now_and_then(unsigned one_in) { return random_() % one_in == 0; }

 private:
  std::mt19937 random_;
  std::size_t count_ = 0;
};

}  // namespace penstock::testing
