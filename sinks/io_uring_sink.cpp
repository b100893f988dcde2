// SPDX-License-Identifier: MIT
#include "sinks/io_uring_sink.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "lib/os/batch_buffer.hpp"
#include "sinks/file_sink.hpp"

namespace penstock::sinks {
namespace {

using namespace std::chrono_literals;

// flush() and sync() wait this long, so that a backend that asks again and again does not spin.
constexpr auto flush_wait = 1ms;
// A full disk answers within microseconds; a slower answer is waited for by flush(), not by resume().
constexpr auto resume_wait = 10ms;
// How long the end of the sink, or of what it holds, waits for the kernel: a disk that has not answered by then may never do so.
constexpr auto last_wait = 1s;

std::string registration_note(std::size_t bytes, int os_error) {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  const std::string allowed = limit.rlim_cur == RLIM_INFINITY ? "unlimited" : std::to_string(limit.rlim_cur) + " bytes";
  return "the batches are not registered with io_uring: " + std::to_string(bytes) + " bytes are needed, RLIMIT_MEMLOCK is " + allowed +
         " (" + std::generic_category().message(os_error) + "); writes go on from plain memory";
}

}  // namespace

io_uring_sink::io_uring_sink(const sink_config& settings, uring_file file, uring ring)
    : settings_(settings),
      open_options_(uring_file::options_of(settings)),
      path_(std::filesystem::absolute(settings.path)),
      file_(std::move(file)),
      buffers_(std::max(settings.queue_depth, 1U), effective_batch_bytes(settings), settings.page_cache == page_cache_policy::direct),
      ring_(std::move(ring)),
      queue_(std::max(settings.queue_depth, 1U)) {
  settings_.path = path_;
  seam_ = file_.ends_inside_line();
  begin_ = file_.size();
  queue_.start_at(begin_);
  synced_to_ = queue_.end();
  dropper_.start_at(queue_.end());
  direct_ = file_.direct_fd() >= 0;
  allocated_ = file_.has_blocks_behind_end();
  if (buffers_.reserve_registration()) {
    const int os_error = ring_.register_buffers(buffers_.memory(), buffers_.bytes_each(), buffers_.count());
    if (os_error != 0) {
      buffers_.release_registration();
      note_ = registration_note(buffers_.bytes_each() * buffers_.count(), os_error);
    }
  }
}

io_uring_sink::~io_uring_sink() {
  if (in_child()) {
    disown_after_fork();
    return;
  }
  if (!file_.open()) return;
  finish();
  file_.close();
}

batch io_uring_sink::lend(lend_request) noexcept {
  if (in_child()) return {};
  const auto end = [this] { return line_end_wished_ ? cut::lines : cut::pages; };
  if (lent_) return {room_, end()};
  advance();
  if (buffers_read_late_ && queue_.empty()) buffers_read_late_ = !buffers_.replace();
  const bool held = !error_.ok() || truncated_to_.has_value() || change_is_due() || buffers_read_late_;
  if (held || !buffers_.any_free()) return {{}, end()};

  lent_buffer_ = buffers_.take();
  lent_with_seam_ = seam_;
  const std::size_t own_bytes = seam_ ? 1 : 0;
  std::size_t phase = os::page_phase(queue_.end());
  // A batch of one page, of which the file has all but one byte.
  if (phase + own_bytes >= buffers_.bytes_each()) phase = 0;
  room_ = {buffers_.at(lent_buffer_) + phase + own_bytes, buffers_.bytes_each() - phase - own_bytes};
  lent_ = true;
  return {room_, end()};
}

std::size_t io_uring_sink::add_seam(std::size_t used_bytes) noexcept {
  if (!seam_) {
    // Lent with a place for a newline that is no longer needed, since the file is another one: the place stays empty.
    return 0;
  }
  seam_ = false;
  if (!lent_with_seam_) {
    // Something was given up, or the file changed, while this batch was filled: its bytes move up by one.
    if (used_bytes == room_.size()) {
      queue_.start_at(end_open_line(queue_.end()));
      return 0;
    }
    std::memmove(room_.data() + 1, room_.data(), used_bytes);
    room_.front() = std::byte{'\n'};
    return 1;
  }
  room_ = {room_.data() - 1, room_.size() + 1};
  room_.front() = std::byte{'\n'};
  return 1;
}

outcome io_uring_sink::submit(std::size_t used_bytes) noexcept {
  if (in_child()) return {errc::closed, ECHILD};
  if (!lent_ || used_bytes == 0) return error_;  // the room stays lent: the next lend() gives the same
  lent_ = false;
  used_bytes = std::min(used_bytes, room_.size());
  const std::size_t own_bytes = add_seam(used_bytes);
  mid_line_ = room_[own_bytes + used_bytes - 1] != std::byte{'\n'};
  if (!mid_line_) line_end_wished_ = false;
  queue_.push({.data = room_.data(), .buffer = lent_buffer_, .bytes = own_bytes + used_bytes, .own_bytes = own_bytes});
  notice_truncation();
  allocate_ahead();
  advance();
  return error_;
}

outcome io_uring_sink::flush() noexcept {
  if (in_child()) return {errc::closed, ECHILD};
  advance();
  if (queue_.on_the_way() > 0 || (error_.ok() && (!queue_.empty() || truncated_to_.has_value() || change_is_due()))) {
    wait(flush_wait);
    advance();
  }
  if (!error_.ok()) return error_;
  return queue_.empty() ? outcome{} : outcome{errc::pending, 0};
}

outcome io_uring_sink::sync() noexcept {
  if (const outcome flushed = flush(); !flushed.ok()) return flushed;
  if (!syncing_ && sync_result_.ok() && synced_to_ == queue_.end()) return {};
  if (without_ring_) {
    const outcome result = os::sync_data(file_.fd());
    if (result.ok()) synced_to_ = queue_.end();
    return result;
  }
  if (!syncing_ && sync_result_.ok() && ring_.vacant() > 0) {
    sync_target_ = queue_.end();
    ring_.put_sync(uring_file::plain, sync_tag);
    syncing_ = true;
    send();
  }
  if (syncing_) {
    wait(flush_wait);
    advance();
  }
  // A failure is told once, and never becomes a success by asking again: the next sync() asks the kernel anew, for what it knows then.
  if (!sync_result_.ok()) return std::exchange(sync_result_, outcome{});
  return !syncing_ && synced_to_ == queue_.end() ? outcome{} : outcome{errc::pending, 0};
}

outcome io_uring_sink::resume() noexcept {
  if (in_child()) return {errc::closed, ECHILD};
  if (error_.ok()) return {};
  const auto deadline = clock::now() + resume_wait;
  if (!settle_by(deadline)) return error_;
  error_ = {};
  const std::size_t queued_before = queue_.size();
  for (advance(); error_.ok() && queue_.size() == queued_before && clock::now() < deadline; advance()) wait(flush_wait);
  return error_;
}

std::size_t io_uring_sink::abandon() noexcept {
  if (in_child()) return 0;
  const bool settled = drain(last_wait);
  const auto lost_bytes = static_cast<std::size_t>(queue_.unwritten_bytes());
  if (!settled || error_.ok()) return lost_bytes;
  const bool inside_line = written_ends_inside_line();
  while (!queue_.empty()) buffers_.put_back(queue_.pop_last());
  // The line that was under way has lost its end, or its middle: what comes next is another line.
  if (lost_bytes > 0) {
    seam_ = inside_line;
    mid_line_ = false;
    written_inside_line_ = inside_line;
  }
  error_ = {};
  return lost_bytes;
}

bool io_uring_sink::written_ends_inside_line() const noexcept {
  if (queue_.empty() || queue_[0].done_bytes == 0) return written_inside_line_;
  return queue_[0].data[queue_[0].done_bytes - 1] != std::byte{'\n'};
}

bool io_uring_sink::settle_by(clock::time_point deadline) noexcept {
  for (advance(); queue_.on_the_way() > 0; advance()) {
    const auto left = deadline - clock::now();
    if (left <= left.zero()) return false;
    wait(left);
  }
  return true;
}

bool io_uring_sink::drain(std::chrono::nanoseconds most) noexcept {
  const auto deadline = clock::now() + most;
  for (advance(); !quiet() || (error_.ok() && !queue_.empty()); advance()) {
    const auto left = deadline - clock::now();
    if (left <= left.zero()) return false;
    wait(left);
  }
  return true;
}

void io_uring_sink::finish() noexcept {
  const bool quiet_now = drain(last_wait);
  if (quiet_now && (allocated_ || file_.size() > queue_.written())) static_cast<void>(file_.cut_off(queue_.written()));
  if (!quiet_now) buffers_.forget();
  ring_.close();
  without_ring_ = true;
}

std::unique_ptr<sink> io_uring_sink::retire() noexcept {
  if (in_child()) return nullptr;
  const std::string kind = without_ring_ ? "pwrite" : "io_uring";
  finish();
  // A write that the kernel has not done yet would land on top of later lines.
  if (!quiet()) {
    file_.close();
    return nullptr;
  }
  const bool inside_line = seam_ || written_ends_inside_line();
  try {
    os::batch_buffer memory(effective_batch_bytes(settings_) + os::page_bytes);
    os::descriptor file = file_.take_for_appending();
    if (!file.valid()) return nullptr;
    return make_line_sink({.owned = std::move(file), .kind = kind, .memory = std::move(memory), .mid_line = inside_line});
  } catch (...) {
    return nullptr;
  }
}

void io_uring_sink::disown_after_fork() noexcept {
  ring_.disown();
  file_.disown();
  buffers_.release_registration();
  buffers_.forget();
}

sink_description io_uring_sink::describe() const {
  sink_description description{.kind = without_ring_ ? "pwrite" : "io_uring", .fallback = fallback_, .note = note_};
  if (settings_.page_cache == page_cache_policy::direct && !direct_) {
    if (!description.note.empty()) description.note += "; ";
    description.note += "this file system refuses O_DIRECT: written through the page cache";
  }
  return description;
}

}  // namespace penstock::sinks
