// SPDX-License-Identifier: MIT
// When the io_uring sink's file is moved, deleted or cut off by others: all that is on its way is waited for first, since it carries
// offsets of the old file.
#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

#include "sinks/io_uring_sink.hpp"

namespace penstock::sinks {
namespace {

using namespace std::chrono_literals;

// reopen() waits this long for what is on its way; after that the file is changed by itself, between two batches.
constexpr auto reopen_wait = 100ms;

constexpr std::byte newline{'\n'};

}  // namespace

outcome io_uring_sink::reopen() noexcept {
  if (in_child()) return {errc::closed, ECHILD};
  // Opening the same file a second time would only meet our own lock.
  if (!file_.moved(path_)) return {};
  reopen_wanted_ = true;
  reopen_result_ = {};
  line_end_wished_ = mid_line_ || lent_;
  const auto deadline = clock::now() + reopen_wait;
  for (advance(); reopen_wanted_ && (change_is_due() || !queue_.empty()); advance()) {
    const auto left = deadline - clock::now();
    if (left <= left.zero()) break;
    wait(left);
  }
  return reopen_wanted_ ? outcome{errc::pending, 0} : reopen_result_;
}

outcome io_uring_sink::open_anew() noexcept {
  reopen_wanted_ = false;
  line_end_wished_ = false;
  try {
    go_on_in(uring_file(settings_));
    return {};
  } catch (const std::system_error& refused) {
    return {errc::io, refused.code().value()};
  } catch (...) {
    return {errc::io, ENOMEM};
  }
}

outcome io_uring_sink::take_next_file(os::descriptor fresh) noexcept {
  if (in_child()) return {errc::closed, ECHILD};
  if (!error_.ok() || !queue_.empty() || !quiet() || truncated_to_.has_value() || mid_line_) return {errc::pending, 0};
  reopen_wanted_ = false;
  line_end_wished_ = false;
  go_on_in(uring_file(std::move(fresh), settings_.page_cache));
  return {};
}

void io_uring_sink::go_on_in(uring_file fresh) noexcept {
  // The old file keeps only what is written; what is held goes to the new one, from the line that was under way on.
  if (allocated_ || file_.size() > queue_.written()) static_cast<void>(file_.cut_off(queue_.written()));
  if (seam_ && file_.ends_inside_line()) static_cast<void>(end_open_line(file_.size()));
  file_.close();
  file_ = std::move(fresh);
  if (!without_ring_) ring_.use_files(file_.fd(), file_.direct_fd());
  direct_ = file_.direct_fd() >= 0;
  allocate_ = !without_ring_;
  allocated_ = file_.has_blocks_behind_end();
  allocated_to_ = 0;
  seam_ = file_.ends_inside_line();
  std::uint64_t begin = file_.size();
  if (queue_.empty()) {
    queue_.start_at(begin);
    mid_line_ = false;
  } else {
    if (seam_) begin = end_open_line(begin);
    seam_ = false;
    queue_.start_at_open_line();
    queue_.move_to(begin);
  }
  written_inside_line_ = false;
  begin_ = begin;
  dropper_.start_at(begin);
  synced_to_ = begin;
}

void io_uring_sink::notice_truncation() noexcept {
  const std::uint64_t size_bytes = file_.size();
  // All that is written is in the file, unless someone cut it off.
  if (size_bytes < queue_.written() && (!truncated_to_.has_value() || size_bytes < *truncated_to_)) truncated_to_ = size_bytes;
}

void io_uring_sink::start_again_at(std::uint64_t size_bytes) noexcept {
  // What landed at its old place after the cut is behind a gap. It goes there once more, without one.
  if (file_.size() > size_bytes && !file_.cut_off(size_bytes).ok()) return;
  truncated_to_.reset();
  allocated_to_ = 0;
  seam_ = file_.ends_inside_line();
  if (queue_.empty()) {
    queue_.start_at(size_bytes);
  } else {
    if (seam_) size_bytes = end_open_line(size_bytes);
    seam_ = false;
    queue_.move_to(size_bytes);
  }
  begin_ = size_bytes;
  dropper_.start_at(size_bytes);
  synced_to_ = 0;
}

std::uint64_t io_uring_sink::end_open_line(std::uint64_t size_bytes) noexcept {
  // If the disk is full, the line is left without its end: there is no other place for it.
  return size_bytes + os::write_all_at(file_.fd(), {&newline, 1}, size_bytes).done_bytes;
}

outcome io_uring_sink::maintain() noexcept {
  if (in_child()) return {errc::closed, ECHILD};
  notice_truncation();
  advance();
  if (!settings_.reopen || !file_.moved(path_)) return {};
  const outcome result = reopen();
  if (result.code == errc::pending) return {};
  const bool told_already = !result.ok() && result.os_error == reopen_error_;
  reopen_error_ = result.os_error;
  return told_already ? outcome{} : result;
}

}  // namespace penstock::sinks
