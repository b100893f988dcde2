// SPDX-License-Identifier: MIT
// How a line gets into an output's batch.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include <penstock/detail/printable.hpp>

#include "lib/backend/escape.hpp"
#include "lib/backend/output.hpp"

namespace penstock::backend {

namespace {

constexpr std::size_t message_bytes_min = 64;  // Less room is not tried: most messages would find no end in it.

}  // namespace

inline void output::mark(const line_source& line) noexcept {
  const std::uint64_t end_bytes = laid_bytes();
  const level of_record = line.record_level();
  if (!marks_.add(end_bytes, of_record)) [[unlikely]]
    ++written_[of_record];  // No memory to remember it by: it is in the batch, which is all that can be said.
  if (latest_open_.epoch != epoch_) open_epoch_entry();
  latest_open_.end_bytes = end_bytes;
  if (of_record >= settings_.flush_level) urgent_ = true;
}

void output::open_epoch_entry() noexcept {
  try {
    if (latest_open_.epoch != none_open.epoch) open_.push_back(latest_open_);
  } catch (const std::bad_alloc&) {
    return;  // The line counts to the epoch before: what waits for that one waits longer.
  }
  latest_open_.epoch = epoch_;
}

[[gnu::always_inline]] inline void output::lay_out(const line_source& line) {
  if (layout_->shared())
    put_shared(line);
  else
    put_anew(line);
  if (due_ns_ == 0) begin_batch(line.time);
}

// The open batch is due by the age of its first record.
void output::begin_batch(wall_ns first_time) noexcept {
  const std::int64_t age_ns = std::clamp<std::int64_t>(wall_now_ - first_time, 0, settings_.flush_interval_ns);
  due_ns_ = now_ns_ + settings_.flush_interval_ns - age_ns;
}

void output::put(const line_source& line) noexcept {
  ++taken_[line.record_level()];
  if (!disabled_) {
    try {
      lay_out(line);
    } catch (const std::bad_alloc&) {
      return lose_for_memory(line.record_level());
    }
    // Given up while the line was laid out: it was not marked yet, so it is counted here.
    if (!disabled_) {
      mark(line);
      return;
    }
  }
  count_lost(line.record_level());
}

void output::put_note(const line_source& line) noexcept {
  if (disabled_) return;
  try {
    lay_out(line);
  } catch (const std::bad_alloc&) {  // The library's own lines stand in no ledger.
  }
}

void output::lose(level of_record) noexcept {
  ++taken_[of_record];
  count_lost(of_record);
  starved_ = true;
}

void output::lose_for_memory(level of_record) noexcept {
  count_lost(of_record);
  news_.trouble = last_trouble_ = {errc::no_space, ENOMEM};
  starved_ = true;
}

void output::count_lost(level of_record) noexcept {
  ++lost_[of_record];
  ++news_.lost;
  ++news_.lost_unlogged;
}

inline void output::put_anew(const line_source& line) {
  if (layout_->simple()) {
    line_frame& frame = layout_->frame(line);
    if (line.is_text ? put_text(line, frame) : large_room_ ? put_arguments<true>(line, frame) : put_arguments<false>(line, frame)) return;
  }
  put_slowly(line);
}

// Each line is laid out by the first of those whose lines are the same.
void output::put_shared(const line_source& line) {
  if (const laid_line* laid = layout_->kept(line.number)) {
    if (laid->whole() && laid->before.size() < static_cast<std::size_t>(end_ - pos_)) {
      std::memcpy(pos_, laid->before.data(), laid->before.size());
      pos_ += laid->before.size();
    } else {
      write(*laid);
    }
    return;
  }
  spill_.trim();
  const char* const begin = pos_;
  put_anew(line);
  // Not kept by write_new(): it stands in the batch. A line without a number is nobody else's, and may have left the room that it began in.
  if (line.number != 0 && layout_->kept(line.number) == nullptr)
    layout_->keep(line.number, {.before = {begin, static_cast<std::size_t>(pos_ - begin)}});
}

bool output::must_escape(std::string_view message, bool known_printable) const noexcept {
  return !known_printable && layout_->escapes() && !detail::is_printable(message.data(), message.size()) && needs_escape(message);
}

inline void output::end_line(char* message_end, const line_frame& frame) noexcept {
  if (frame.after.bytes() == 1) {
    *message_end = '\n';
    pos_ = message_end + 1;
  } else {
    pos_ = frame.after.copy(message_end);
  }
}

// Lays the line out in the batch. False: there may not be room, or the message needs care; nothing has happened then.
inline bool output::put_text(const line_source& line, line_frame& frame) noexcept {
  const std::string_view text = line.body.text();
  if (static_cast<std::size_t>(end_ - pos_) < frame.copied_bytes + text.size()) return false;
  if (!line.is_printable && must_escape(text, false)) return false;
  char* const begin = pos_;
  char* const message = frame.before.copy(begin);
  frame.patch(begin, line.time);
  std::memcpy(message, text.data(), text.size());
  end_line(message + text.size(), frame);
  return true;
}

// The same for arguments. A message that finds no room is laid out in the spill, and not again.
template <bool large_room>
bool output::put_arguments(const line_source& line, line_frame& frame) {
  if (static_cast<std::size_t>(end_ - pos_) < frame.copied_bytes + message_bytes_min) return false;
  char* const begin = pos_;
  spilling_text out(frame.before.copy(begin), end_ - frame.after.copied_bytes(), spill_);
  frame.patch(begin, line.time);
  lay_out_record(*line.site, *line.body.source, line.body.payload, out);
  if constexpr (large_room) shorten(line, out);
  const bool escape = must_escape(out.view(), out.printable);
  if (out.spilled() || escape) {
    shorten(line, out);
    put_aside(line, frame, escape ? escaped(out.view()) : out.view());
  } else {
    end_line(out.pos, frame);
  }
  return true;
}

// As the thread would have cut it, had it made the text itself.
void output::shorten(const line_source& line, detail::text_out& out) noexcept {
  const std::size_t most_bytes = text_bytes_max(record_bytes_max_, (line.site->flags & detail::site_source_in_record) != 0);
  if (static_cast<std::size_t>(out.pos - out.begin) <= most_bytes) return;
  cut_short(out, most_bytes);
  cuts_->add(line.number);
}

void output::put_aside(const line_source& line, line_frame& frame, std::string_view message) {
  line_.assign(frame.before.view());
  frame.patch(line_.data(), line.time);
  write_new({line_, message, frame.after.view()}, line.number);
}

std::string_view output::escaped(std::string_view message) {
  escaped_.clear();
  append_escaped(escaped_, message);
  return escaped_;
}

void output::put_slowly(const line_source& line) {
  std::string_view message = line.body.text();
  bool printable = line.is_printable;
  spilling_text out(nullptr, nullptr, spill_);
  if (!line.is_text) {
    lay_out_record(*line.site, *line.body.source, line.body.payload, out);
    shorten(line, out);
    message = out.view();
    printable = out.printable;
  }
  if (must_escape(message, printable)) message = escaped(message);
  if (layout_->simple()) return put_aside(line, layout_->frame(line), message);
  layout_->compose(line_, line, message);
  write_new({.before = line_}, line.number);
}

void output::write_new(const laid_line& line, std::uint64_t number) {
  if (layout_->shared()) layout_->keep(number, line);
  write(line);
  if (!layout_->shared()) spill_.trim();
}

void output::write(const laid_line& line) {
  const std::size_t bytes = line.before.size() + line.message.size() + line.after.size();
  // Even if nothing is in the room: now that the sink hears how long the line is, it may have another room for it.
  if (cut_ == cut::lines && static_cast<std::size_t>(end_ - pos_) < bytes && !find_room(bytes)) {
    // Whole, so that the sink hears the line's length when it is asked again.
    try {
      carry_.append(line.before).append(line.message).append(line.after);
    } catch (const std::bad_alloc&) {
      carry_.clear();
      throw;
    }
    return;
  }
  write_piece(line.before);
  write_piece(line.message);
  write_piece(line.after);
}

void output::write_piece(std::string_view piece) {
  while (!piece.empty() && !disabled_) {
    if (!carry_.empty() || (pos_ == end_ && !find_room(piece.size()))) {
      try {
        carry_.append(piece);
      } catch (const std::bad_alloc&) {
        carry_ = '\n';  // The line ends where the room did.
        throw;
      }
      return;
    }
    const std::size_t fits = std::min(piece.size(), static_cast<std::size_t>(end_ - pos_));
    if (fits == 0) continue;
    std::memcpy(pos_, piece.data(), fits);
    pos_ += fits;
    piece.remove_prefix(fits);
    if (pos_ == end_) hand_over();
  }
}

}  // namespace penstock::backend
