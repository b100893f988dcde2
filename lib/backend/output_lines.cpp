// SPDX-License-Identifier: MIT
// How a line gets into an output's batch.
#include <algorithm>
#include <cstring>

#include <penstock/detail/printable.hpp>

#include "lib/backend/escape.hpp"
#include "lib/backend/output.hpp"

namespace penstock::backend {

void output::mark(const line_source& line) noexcept {
  const std::uint64_t end_bytes = laid_bytes();
  marks_.add(end_bytes, line.facts.record_level);
  if (open_.empty() || open_.back().epoch != epoch_) open_.push_back({epoch_, 0});
  open_.back().end_bytes = end_bytes;
  if (line.facts.record_level >= settings_.flush_level) urgent_ = true;
}

void output::lay_out(const line_source& line) noexcept {
  if (layout_->shared())
    put_shared(line);
  else
    put_anew(line);
  if (due_ns_ != 0) return;
  const std::int64_t age_ns = std::clamp<std::int64_t>(wall_now_ - line.facts.time, 0, settings_.flush_interval_ns);
  due_ns_ = now_ns_ + settings_.flush_interval_ns - age_ns;
}

void output::put(const line_source& line) noexcept {
  ++taken_[line.facts.record_level];
  if (!disabled_) {
    lay_out(line);
    // Given up while the line was laid out: it was not marked yet, so it is counted here.
    if (!disabled_) {
      mark(line);
      return;
    }
  }
  ++lost_[line.facts.record_level];
  ++news_.lost;
  ++news_.lost_unlogged;
}

void output::put_note(const line_source& line) noexcept {
  if (!disabled_) lay_out(line);
}

void output::lose(level of_record) noexcept {
  ++taken_[of_record];
  ++lost_[of_record];
  ++news_.lost;
  ++news_.lost_unlogged;
  starved_ = true;
}

void output::put_anew(const line_source& line) noexcept {
  if (!layout_->simple() || !put_simple(line, layout_->frame(line.key, line.facts))) put_slowly(line);
}

// Each line is laid out by the first of those whose lines are the same.
void output::put_shared(const line_source& line) noexcept {
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

// Lays the line out in the batch. False: there may not be room, or the message needs care; nothing has happened then.
bool output::put_simple(const line_source& line, const line_frame& frame) noexcept {
  const auto room = static_cast<std::size_t>(end_ - pos_);
  const std::size_t around = frame.before.copied_bytes() + frame.after.copied_bytes();
  const auto* text = reinterpret_cast<const char*>(line.body.payload);
  const std::size_t text_bytes = line.is_text ? line.body.payload_bytes : 64;
  if (room < around + text_bytes) return false;
  if (line.is_text && must_escape({text, text_bytes}, line.is_printable)) return false;

  char* message = frame.before.copy(pos_);
  frame.patch(pos_, line.facts.time);
  char* end = message + text_bytes;
  if (line.is_text) {
    std::memcpy(message, text, text_bytes);
  } else {
    spilling_text out(message, end_ - frame.after.copied_bytes(), spill_);
    lay_out_record(*line.site, *line.body.source, line.body.payload, out);
    const std::string_view laid = out.view();
    const bool escape = must_escape(laid, out.printable);
    if (out.spilled() || escape) {
      line_.assign(frame.before.view());
      frame.patch(line_.data(), line.facts.time);
      escaped_.clear();
      if (escape) append_escaped(escaped_, laid);
      write_new({line_, escape ? std::string_view(escaped_) : laid, frame.after.view()}, line.number);
      return true;
    }
    end = out.pos;
  }
  if (frame.after.bytes() == 1) {
    *end = '\n';
    pos_ = end + 1;
  } else {
    pos_ = frame.after.copy(end);
  }
  return true;
}

std::string_view output::message_of(const line_source& line) noexcept {
  std::string_view message(reinterpret_cast<const char*>(line.body.payload), line.body.payload_bytes);
  bool printable = line.is_printable;
  if (!line.is_text) {
    spilling_text out(nullptr, nullptr, spill_);
    lay_out_record(*line.site, *line.body.source, line.body.payload, out);
    message = out.view();
    printable = out.printable;
  }
  if (!must_escape(message, printable)) return message;
  escaped_.clear();
  append_escaped(escaped_, message);
  return escaped_;
}

void output::put_slowly(const line_source& line) noexcept {
  const std::string_view message = message_of(line);
  if (layout_->simple()) {
    const line_frame& frame = layout_->frame(line.key, line.facts);
    line_.assign(frame.before.view());
    frame.patch(line_.data(), line.facts.time);
    write_new({line_, message, frame.after.view()}, line.number);
  } else {
    layout_->compose(line_, line.facts, message);
    write_new({.before = line_}, line.number);
  }
}

void output::write_new(const laid_line& line, std::uint64_t number) noexcept {
  if (layout_->shared()) layout_->keep(number, line);
  write(line);
  if (!layout_->shared()) spill_.trim();
}

void output::write(const laid_line& line) noexcept {
  const std::size_t bytes = line.before.size() + line.message.size() + line.after.size();
  // Even if nothing is in the room: now that the sink hears how long the line is, it may have another room for it.
  if (cut_ == cut::lines && static_cast<std::size_t>(end_ - pos_) < bytes && !find_room(bytes)) {
    // Whole, so that the sink hears the line's length when it is asked again.
    carry_.append(line.before).append(line.message).append(line.after);
    return;
  }
  write_piece(line.before);
  write_piece(line.message);
  write_piece(line.after);
}

void output::write_piece(std::string_view piece) noexcept {
  while (!piece.empty() && !disabled_) {
    if (!carry_.empty() || (pos_ == end_ && !find_room(piece.size()))) {
      carry_.append(piece);
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
