// SPDX-License-Identifier: MIT
// Room for text that does not fit where it was begun: in the chunk of a thread, or in the open batch of a sink.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include <penstock/base/call_site.hpp>

namespace penstock::transport {

/// Room for text that does not fit where it was begun. Kept and used again; large room is given back by trim().
class text_spill {
 public:
  /// At least `bytes` bytes, with the first `kept_bytes` of `from` copied to their start.
  ///
  /// Errors: std::bad_alloc.
  char* make_room(const char* from, std::size_t kept_bytes, std::size_t bytes);
  /// The same, for text that is begun.
  char* make_room(std::size_t bytes) { return bytes <= capacity_bytes_ ? room_.get() : make_room(nullptr, 0, bytes); }
  std::size_t capacity_bytes() const noexcept { return capacity_bytes_; }
  bool holds(const char* place) const noexcept { return place == room_.get() && place != nullptr; }
  void trim() noexcept {
    if (capacity_bytes_ > bytes_kept) [[unlikely]]
      give_back();
  }

 private:
  static constexpr std::size_t bytes_kept = std::size_t{1} << 20;  // Larger room comes from rare records and is given back.

  void give_back() noexcept;

  struct line_deleter {
    void operator()(char* room) const noexcept;
  };
  std::unique_ptr<char[], line_deleter> room_;  // Whole cache lines: a neighbour on the heap may be another thread's.
  std::size_t capacity_bytes_ = 0;
};

/// A text_out that moves to a spill when its room is used up.
struct spilling_text : detail::text_out {
  spilling_text(char* room_begin, char* room_end, text_spill& overflow) noexcept
      : text_out{room_begin, room_begin, room_end, grow_into_spill}, spill(overflow) {}
  spilling_text(const spilling_text&) = delete;
  spilling_text& operator=(const spilling_text&) = delete;

  std::string_view view() const noexcept { return {begin, static_cast<std::size_t>(pos - begin)}; }
  bool spilled() const noexcept { return spill.holds(begin); }

  text_spill& spill;

 private:
  static void grow_into_spill(detail::text_out& out, std::size_t more_bytes);
};

}  // namespace penstock::transport
