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

/// Lines with equal keys have the same surroundings, but for the time.
struct frame_key {
  const void* site = nullptr;
  std::uint64_t stream = 0;  ///< index and generation of the thread stream
  std::uint32_t logger = 0;
  std::uint32_t source_line = 0;

  friend bool operator==(const frame_key&, const frame_key&) = default;
};

/// Text kept in whole 32-byte pieces, so that it can be copied without a loop over bytes.
class padded_text {
 public:
  static constexpr std::size_t piece_bytes = 32;

  void assign(std::string_view text);
  std::size_t bytes() const noexcept { return bytes_; }
  /// Bytes that copy() writes.
  std::size_t copied_bytes() const noexcept { return room_.size(); }
  char* copy(char* to) const noexcept {
    for (std::size_t i = 0; i < room_.size(); i += piece_bytes) std::memcpy(to + i, room_.data() + i, piece_bytes);
    return to + bytes_;
  }
  std::string_view view() const noexcept { return {room_.data(), bytes_}; }

 private:
  std::vector<char> room_;
  std::size_t bytes_ = 0;
};

/// The surroundings of a message, but for the digits at `places`.
struct line_frame {
  frame_key key{};
  wall_ns second_start = 0;  // In nanoseconds; 0 with a null site: unused.
  padded_text before{};
  padded_text after{};                   // Ends in the newline.
  std::vector<fraction_place> places{};  // In `before`; offsets from its start.

  void patch(char* line, wall_ns time) const noexcept {
    const auto nanoseconds = static_cast<std::uint32_t>(time - second_start);
    for (const fraction_place& place : places) put_fraction(line + place.offset, nanoseconds, place.digits);
  }
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
  const line_frame& frame(const frame_key& key, const line_facts& facts) {
    line_frame& kept = frames_[slot_of(key)];
    if (kept.key == key && static_cast<std::uint64_t>(facts.time - kept.second_start) < 1'000'000'000) [[likely]]
      return kept;
    render(kept, key, facts);
    return kept;
  }

  /// The whole line, newline included.
  void compose(std::string& line, const line_facts& facts, std::string_view message);

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

  static std::size_t slot_of(const frame_key& key) noexcept {
    const auto mixed =
        (reinterpret_cast<std::uintptr_t>(key.site) >> 4) ^ (key.stream * 7) ^ (std::uint64_t{key.logger} * 13) ^ key.source_line;
    return static_cast<std::size_t>((mixed * 0x9E37'79B9'7F4A'7C15U) >> 58);
  }
  void render(line_frame& kept, const frame_key& key, const line_facts& facts);

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
