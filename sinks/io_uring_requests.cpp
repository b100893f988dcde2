// SPDX-License-Identifier: MIT
// The io_uring sink's side of the ring: what is put, in which order, what the results mean, and what is done when the ring refuses.
#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <thread>

#include "lib/os/pages.hpp"
#include "sinks/io_uring_sink.hpp"

namespace penstock::sinks {
namespace {

using namespace std::chrono_literals;

// A request that fails in passing (EAGAIN, EINTR, cancelled behind a short one) is made again this often in a row, then held as an error,
// which the backend tries again with growing waits.
constexpr unsigned passing_failures_max = 64;
// A kernel that has taken no request for this long (no memory, no worker) is given up; pwrite(2) needs neither.
constexpr auto refused_max = 1s;

// Space is allocated in steps, as soon as less than half a step is left.
// Source: measured, 64 MiB: 30 to 150 us, and writes 15 to 30 % faster.
constexpr std::uint64_t allocate_step_bytes = std::uint64_t{64} << 20;
// A log that writes less than this shall not occupy a step of a disk.
constexpr std::uint64_t allocate_quiet_bytes = std::uint64_t{1} << 20;

bool passing(int os_error) noexcept { return os_error == EAGAIN || os_error == EBUSY || os_error == EINTR || os_error == ENOMEM; }

}  // namespace

std::string uring_refusal(const char* what, int os_error) {
  std::string text =
      std::string(what) + " failed: " + std::generic_category().message(os_error) + " (errno " + std::to_string(os_error) + ")";
  switch (os_error) {
    case EPERM:
    case EACCES:
      return text + "; allow io_uring (sysctl kernel.io_uring_disabled, the seccomp profile of the container) or use type = \"pwrite\"";
    case ENOSYS:
      return text + "; this kernel, or a seccomp profile, has no io_uring: use type = \"pwrite\"";
    case ENOMEM:
      return text + "; raise the limit of locked memory (ulimit -l) or use type = \"pwrite\"";
    case EMFILE:
      return text + "; raise the limit of open files (ulimit -n)";
    default:
      return text;
  }
}

io_uring_sink::piece io_uring_sink::next_piece(const queued_batch& one) const noexcept {
  const std::span<const std::byte> rest = one.rest();
  const std::size_t phase = os::page_phase(one.position());
  // Memory and file are not congruent after the file changed while a batch was filled.
  if (!direct_ || reinterpret_cast<std::uintptr_t>(rest.data()) % os::page_bytes != phase) return {rest.size(), false};
  if (phase != 0) return {std::min(rest.size(), os::page_bytes - phase), false};
  if (rest.size() >= os::page_bytes) return {rest.size() - rest.size() % os::page_bytes, true};
  return {rest.size(), false};
}

void io_uring_sink::advance() noexcept {
  if (!without_ring_) {
    collect();
    settle();
    issue();
  }
  if (without_ring_) {
    settle();
    write_without_ring();
  }
}

void io_uring_sink::collect() noexcept {
  std::array<uring_result, 16> results;
  for (std::size_t count = results.size(); count == results.size();) {
    count = ring_.take(results);
    for (std::size_t index = 0; index < count; ++index) take_result(results[index]);
  }
  release_done();
}

void io_uring_sink::take_result(uring_result result) noexcept {
  if (result.tag == sync_tag)
    take_synced(result.result);
  else if (result.tag == allocate_tag)
    take_allocated(result.result);
  else
    take_written(queue_.tagged(result.tag), result.result);
}

void io_uring_sink::take_written(queued_batch& one, int result) noexcept {
  const bool was_direct = one.piece_direct;
  const bool was_dropped = one.piece_dropped;
  queue_.returned(one, static_cast<std::size_t>(std::max(result, 0)));
  if (result > 0) {
    one.failures = 0;
    return;
  }
  // No byte and no errno is no progress: a full disk, if it goes on.
  const int os_error = result == 0 ? ENOSPC : -result;
  // EOPNOTSUPP: this file system; EINVAL: this kernel. From now on without, and the piece again.
  if (was_dropped && (os_error == EOPNOTSUPP || os_error == EINVAL)) {
    static_cast<void>(dropper_.refused({errc::io, os_error}));
    return;
  }
  if (was_direct && os_error == EINVAL) {
    direct_ = false;
    return;
  }
  const bool again = result == 0 || os_error == EAGAIN || os_error == EINTR || os_error == ECANCELED;
  if (again && ++one.failures <= passing_failures_max) return;
  one.failures = 0;
  if (error_.ok()) error_ = os::outcome_of(os_error);
}

void io_uring_sink::take_synced(int result) noexcept {
  syncing_ = false;
  switch (-result) {
    case 0:
      synced_to_ = sync_target_;
      return;
    case EINTR:
    case EAGAIN:
    case ECANCELED:
      return;  // asked for again by the next sync()
    case EINVAL:
    case EROFS:
    case EOPNOTSUPP:
      sync_result_ = {errc::unsupported, -result};
      return;
    default:
      sync_result_ = {errc::io, -result};
  }
}

void io_uring_sink::take_allocated(int result) noexcept {
  allocating_ = false;
  if (result >= 0) {
    allocated_to_ += allocate_step_bytes;
    return;
  }
  if (result == -EINTR || result == -EAGAIN || result == -ECANCELED) return;
  allocate_ = false;
  // ext4 keeps what it could get, which may be the last of the disk.
  give_back_ = result == -ENOSPC || result == -EDQUOT;
}

void io_uring_sink::release_done() noexcept {
  const std::uint64_t written_before = queue_.written();
  while (!queue_.empty() && queue_[0].done()) {
    written_inside_line_ = queue_[0].data[queue_[0].bytes - 1] != std::byte{'\n'};
    unsigned buffer = 0;
    queue_.pop_done(buffer);
    // A kernel that may still read the old buffers must not find new bytes in them: they are all replaced once the queue is empty.
    if (!buffers_read_late_) buffers_.put_back(buffer);
  }
  // Without RWF_DONTCACHE this waits for the disk, window by window. With it there is no wait: the backend is not to be held.
  if (settings_.page_cache != page_cache_policy::drop || queue_.written() == written_before) return;
  if (dropper_.flags() != 0)
    dropper_.start_at(queue_.written());
  else
    dropper_.written_up_to(file_.fd(), queue_.written());
  if (const outcome lost = dropper_.take_error(); !lost.ok()) sync_result_ = lost;
}

void io_uring_sink::settle() noexcept {
  if (queue_.on_the_way() > 0 || allocating_) return;
  if (give_back_) {
    give_back_ = !file_.cut_off(file_.size()).ok();
    allocated_ = give_back_;
  }
  if (truncated_to_.has_value()) start_again_at(*truncated_to_);
  // What landed behind a gap goes, so that nobody reads zeros while the gap is held; so does what a failed write may have left.
  if (!error_.ok() && file_.size() > queue_.written() && file_.cut_off(queue_.written()).ok()) {
    queue_.forget_behind_gap();
    allocated_to_ = 0;
  }
  if (change_is_due() && !syncing_) reopen_result_ = open_anew();
}

void io_uring_sink::issue() noexcept {
  if (!error_.ok() || truncated_to_.has_value()) return;
  // Through the page cache, the kernel's one worker for a file writes in the order of submission. Direct writes may overtake each other, so
  // they go as a chain, in which each waits for the one before, and the next chain waits for the last.
  const bool chained = direct_;
  if (chained && queue_.on_the_way() > 0) return;
  for (std::size_t index = 0; index < queue_.size(); ++index) {
    queued_batch& one = queue_[index];
    if (one.piece_bytes != 0 || one.done()) continue;
    if (ring_.vacant() == 0) send();
    if (without_ring_ || ring_.vacant() == 0) break;
    const piece next = next_piece(one);
    const bool whole = next.bytes == one.rest().size();
    const bool goes_on = chained && whole && index + 1 < queue_.size() && ring_.vacant() > 1;
    one.piece_direct = next.direct;
    one.piece_dropped = settings_.page_cache == page_cache_policy::drop && dropper_.flags() != 0;
    ring_.put({.file = next.direct ? uring_file::direct : uring_file::plain,
               .data = one.rest().first(next.bytes),
               .offset = one.position(),
               .buffer = static_cast<int>(one.buffer),
               .flags = one.piece_dropped ? dropper_.flags() : 0,
               .by_worker = true,  // direct ones too: they extend the file, so the kernel would only try here and send them there
               .linked_to_next = goes_on,
               .tag = queue_.tag_of(index)});
    queue_.sent(one, next.bytes);
    if (chained && !goes_on) break;
  }
  if (!without_ring_) send();
}

void io_uring_sink::allocate_ahead() noexcept {
  if (without_ring_ || !allocate_ || allocating_ || queue_.end() <= begin_ + allocate_quiet_bytes) return;
  if (queue_.end() + allocate_step_bytes / 2 <= allocated_to_) return;
  allocated_to_ = std::max(allocated_to_, queue_.end());
  if (!file_.may_allocate(allocate_step_bytes)) {
    allocated_to_ += allocate_step_bytes;  // looked at again when that much has been written
    return;
  }
  if (ring_.vacant() == 0) return;
  ring_.put_allocate(uring_file::plain, allocated_to_, allocate_step_bytes, allocate_tag);
  allocating_ = true;
  allocated_ = true;
}

void io_uring_sink::wait(std::chrono::nanoseconds most) noexcept {
  if (!without_ring_)
    note_sent(ring_.wait(most));
  else
    std::this_thread::sleep_for(std::min(most, std::chrono::nanoseconds(1ms)));  // only where the file system refuses to cut the file off
}

void io_uring_sink::note_sent(int os_error) noexcept {
  if (os_error == 0) {
    refused_since_.reset();
    return;
  }
  if (passing(os_error)) {
    const auto now = clock::now();
    if (!refused_since_.has_value()) refused_since_ = now;
    if (now - *refused_since_ < refused_max) return;
  }
  fall_back(os_error);
}

void io_uring_sink::fall_back(int os_error) noexcept {
  try {
    fallback_ = uring_refusal("io_uring_enter", os_error);
  } catch (...) {
    fallback_.clear();
  }
  buffers_read_late_ = queue_.on_the_way() + (syncing_ ? 1U : 0U) + (allocating_ ? 1U : 0U) > ring_.unsent();
  // Writing the same bytes at the same place again is harmless; reusing their memory would not be.
  queue_.recall();
  syncing_ = false;
  allocating_ = false;
  allocate_ = false;
  without_ring_ = true;
  ring_.close();
  buffers_.release_registration();
}

void io_uring_sink::write_without_ring() noexcept {
  while (!queue_.empty() && error_.ok() && !truncated_to_.has_value()) {
    queued_batch& first = queue_[0];
    const bool drops = settings_.page_cache == page_cache_policy::drop;
    const os::write_result result = os::write_all_at(file_.fd(), first.rest(), first.position(), drops ? dropper_.flags() : 0);
    queue_.sent(first, first.rest().size());
    queue_.returned(first, result.done_bytes);
    if (!result.result.ok() && !(drops && dropper_.refused(result.result))) error_ = result.result;
    release_done();
  }
}

}  // namespace penstock::sinks
