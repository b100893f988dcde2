// SPDX-License-Identifier: MIT
// What surrounds a message on its line. Lines of one statement, thread and second differ in the digits of the second's fraction only: the
// rest is rendered once, kept, and copied (two cache misses less and ~20 ns a line against rendering each).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <penstock/config.hpp>

#include "lib/backend/pattern.hpp"

namespace penstock::backend {

/// Text kept in whole 64-byte pieces, so that it can be copied without a loop over bytes: the usual line begins within one.
class padded_text {
 public:
  static constexpr std::size_t piece_bytes = 64;

  void assign(std::string_view text);
  std::size_t bytes() const noexcept { return bytes_; }
  /// Bytes that copy() writes.
  std::size_t copied_bytes() const noexcept { return room_.size(); }
  char* copy(char* to) const noexcept {
    // Read once: for all the compiler knows, the bytes that are written may be these.
    const char* const from = room_.data();
    const std::size_t bytes = bytes_;
    std::memcpy(to, from, piece_bytes);
    for (std::size_t i = piece_bytes; i < bytes; i += piece_bytes) [[unlikely]] std::memcpy(to + i, from + i, piece_bytes);
    return to + bytes;
  }
  std::string_view view() const noexcept { return {room_.data(), bytes_}; }
  char* data() noexcept { return room_.data(); }

 private:
  std::vector<char> room_;
  std::size_t bytes_ = 0;
};

/// The surroundings of a message. The digits at `places` are those of the last line.
struct line_frame {
  // Lines that agree in these have the same surroundings, but for the time.
  const void* site = nullptr;  // Null: unused.
  std::uint64_t stream = 0;
  std::uint32_t logger_index = 0;
  std::uint32_t source_line = 0;
  wall_ns second_start = 0;  // In nanoseconds.

  padded_text before{};
  padded_text after{};                   // Ends in the newline.
  std::size_t copied_bytes = 0;          // That copying both may write.
  std::vector<fraction_place> places{};  // In `before`; offsets from its start.
  wall_ns digits_start = 0;              // For `digits_ns` nanoseconds from here on the digits are those that stand there.
  std::uint64_t digits_ns = 0;

  bool is_of(const line_source& line) const noexcept {
    return site == line.site && stream == line.stream && logger_index == line.logger_index && source_line == line.body.source->line &&
           static_cast<std::uint64_t>(line.time - second_start) < 1'000'000'000;
  }
  /// Puts the digits of `time` into a copy of `before`, and keeps them: at full speed the next lines are of the same microsecond.
  void patch(char* copy, wall_ns time) noexcept {
    if (static_cast<std::uint64_t>(time - digits_start) >= digits_ns) put_digits(copy, time);
  }
  /// The digits that stand in `before` are those of `time`, which lies in this frame's second.
  void digits_are_of(wall_ns time) noexcept {
    digits_start = time - static_cast<wall_ns>(static_cast<std::uint64_t>(time - second_start) % digits_ns);
  }

 private:
  void put_digits(char* copy, wall_ns time) noexcept;
};

/// A line as it was laid out: its parts, one behind the other.
struct laid_line {
  std::string_view before{};
  std::string_view message{};
  std::string_view after{};

  bool whole() const noexcept { return message.empty() && after.empty(); }
};

class line_layout {
 public:
  /// Errors: config_error if the pattern is not understood.
  line_layout(std::string_view pattern, control_chars_policy control_chars, bool colour);

  bool escapes() const noexcept { return escapes_; }

  /// Whether a line is `before`, message, `after`. Otherwise compose() makes the line.
  bool simple() const noexcept { return simple_; }

  /// The frame of a line; valid until the next call.
  line_frame& frame(const line_source& line) {
    line_frame& kept = frames_[slot_of(line)];
    if (!kept.is_of(line)) [[unlikely]]
      render(kept, line);
    return kept;
  }

  /// The whole line, newline included.
  void compose(std::string& out, const line_source& line, std::string_view message);

  /// Forgets what is kept (after a fork the process id changes).
  void forget() noexcept;

  /// Whether several outputs use this layout, so that each of their lines is laid out by the first and copied by the others.
  bool shared() const noexcept { return shared_; }
  void share() noexcept { shared_ = true; }
  /// The line of record `number`, if it was kept; its bytes are those of the output that laid it out, there until that one takes another.
  const laid_line* kept(std::uint64_t number) const noexcept { return number != 0 && number == kept_number_ ? &kept_ : nullptr; }
  void keep(std::uint64_t number, const laid_line& line) noexcept {
    kept_number_ = number;
    kept_ = line;
  }

 private:
  static constexpr std::size_t frame_count = 64;  // A few hot statements of a few threads; a miss costs ~300 ns.

  static std::size_t slot_of(const line_source& line) noexcept {
    const std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(line.site) + (line.stream << 7) +
                                (std::uint64_t{line.logger_index} << 20) + line.body.source->line;
    return static_cast<std::size_t>((mixed * 0x9E37'79B9'7F4A'7C15U) >> 58);
  }
  void render(line_frame& kept, const line_source& line);

  std::vector<pattern_op> ops_;
  pattern_renderer renderer_;
  bool escapes_;
  bool simple_ = false;
  bool shared_ = false;
  std::uint64_t kept_number_ = 0;
  laid_line kept_{};
  std::array<line_frame, frame_count> frames_{};
};

/// Gives outputs whose lines are the same one layout.
class layout_set {
 public:
  /// Errors: config_error if the pattern is not understood.
  std::shared_ptr<line_layout> layout_of(const std::string& pattern, control_chars_policy control_chars, bool colour);

 private:
  std::map<std::tuple<std::string, control_chars_policy, bool>, std::shared_ptr<line_layout>> made_;
};

}  // namespace penstock::backend
