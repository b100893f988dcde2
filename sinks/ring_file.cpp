// SPDX-License-Identifier: MIT
#include "sinks/ring_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "lib/os/process_birth.hpp"
#include "sinks/crc32c.hpp"
#include "sinks/ring_create.hpp"

namespace penstock::sinks {
namespace {

/// The unit in which room is lent: what the configuration says, but never so much that lending it would empty the ring.
std::size_t room_unit_bytes(const sink_config& settings, std::size_t data_bytes) noexcept {
  const std::size_t page = os::system_page_bytes();
  const std::size_t wanted_bytes = effective_batch_bytes(settings) / page * page;
  return std::clamp(wanted_bytes, page, data_bytes / 4 / page * page);
}

}  // namespace

std::unique_ptr<ring_file> ring_file::open(const sink_config& settings, std::uint64_t first_sequence) {
  check_ring_size(settings);
  opened_ring opened = open_ring_file(settings);
  try {
    return std::unique_ptr<ring_file>(new ring_file(std::move(opened.file), settings, opened.is_new, first_sequence));
  } catch (const std::system_error& error) {
    opened.undo();
    throw std::system_error(error.code(), "cannot map the ring '" + settings.path.string() + "'");
  }
}

ring_file::ring_file(os::descriptor file, const sink_config& settings, bool is_new, std::uint64_t first_sequence)
    : file_(std::move(file)),
      mapping_(file_.get(),
               {.header_bytes = os::system_page_bytes(), .data_bytes = settings.size - os::system_page_bytes(), .writable = true}),
      batch_bytes_(room_unit_bytes(settings, mapping_.data_bytes())),
      checksums_(settings.sync.each_batch || settings.sync.interval.count() != 0),
      owner_pid_(::getpid()),
      sequence_(first_sequence) {
  guard_.emplace(mapping_.whole());
  const os::sigbus_unblocked unblocked;
  // All of the first mapping, and as much of the second as room can run over the end.
  const std::size_t over_bytes = std::min(batch_bytes_ + 2 * os::system_page_bytes(), mapping_.data_bytes());
  if (const int error = os::populate_for_writing(mapping_.whole().first(settings.size + over_bytes)); error != 0)
    throw std::system_error(error, std::generic_category(), "madvise(MADV_POPULATE_WRITE)");
  take_over(is_new);
  if (damaged()) throw std::system_error(EIO, std::generic_category(), "reading its pages");
}

/// Finds the end of what was committed, and signs as the owner.
void ring_file::take_over(bool is_new) {
  file_id_ = header().file_id;
  if (!is_new) {
    const frame_chain chain = chain_at_rest(data(), header().tail.load(std::memory_order_relaxed));
    tail_ = chain.begin;
    head_ = chain.end;
    if (chain.newest) sequence_ = chain.newest->sequence + 1;
  }
  synced_ = tail_;
  header().tail.store(tail_, std::memory_order_relaxed);
  // A broken end, or what a killed writer left of an open frame: nothing stands there from now on. If its last line is unfinished, the next
  // frame does not go on with it (line_unfinished_ is false), and readers leave it out.
  header_at(head_).mark.store(0, std::memory_order_relaxed);
  header().owner_birth.store(os::process_birth(owner_pid_), std::memory_order_relaxed);
  header().owner_stopped.store(0, std::memory_order_relaxed);
  header().owner_pid.store(static_cast<std::uint32_t>(owner_pid_), std::memory_order_release);
  header().state.store(ring_state::ready, std::memory_order_release);
}

ring_file::~ring_file() {
  if (mapping_.header() == nullptr) return;
  // A child that was made without the fork handlers does not have the mapping.
  if (::getpid() != owner_pid_) {
    disown();
    return;
  }
  const os::sigbus_unblocked unblocked;
  header().owner_pid.store(0, std::memory_order_release);
}

frame_header& ring_file::header_at(std::uint64_t position) const noexcept {
  return *reinterpret_cast<frame_header*>(mapping_.data() + position % mapping_.data_bytes());
}

std::span<std::byte> ring_file::make_room() noexcept {
  const std::uint64_t offset = head_ % mapping_.data_bytes() + frame_header_bytes;
  if (room_bytes_ == 0) {
    // To the end of a page, so that a full batch leaves the next one page-aligned but for its header; never only the rest of a page.
    const std::size_t page = os::system_page_bytes();
    const std::size_t to_page_end_bytes = page - static_cast<std::size_t>(offset % page);
    room_bytes_ = batch_bytes_ - page + to_page_end_bytes;
    if (room_bytes_ < page) room_bytes_ += page;
    // Behind the room, the header of the frame after it must fit too: commit() clears its mark.
    const std::uint64_t limit = head_ + frame_header_bytes + room_bytes_ + frame_header_bytes;
    if (limit - tail_ > mapping_.data_bytes()) drop_frames_before(limit - mapping_.data_bytes());
  }
  return {mapping_.data() + offset, room_bytes_};
}

/// Moves the tail to the first frame that begins at or behind `limit`.
void ring_file::drop_frames_before(std::uint64_t limit) noexcept {
  while (tail_ < limit) {
    // Checked as far as it costs nothing: another process may have scribbled in the file. Then all that was there is given up.
    const frame_header& oldest = header_at(tail_);
    const frame_facts frame{.position = oldest.position, .line_bytes = oldest.line_bytes};
    const bool sound = frame.position == tail_ && frame.end() <= head_;
    tail_ = sound ? frame.end() : head_;
  }
  // The next header to drop, wanted one batch later, is read from memory meanwhile.
  __builtin_prefetch(&header_at(tail_));
  header().tail.store(tail_, std::memory_order_relaxed);
  // Before any byte of the room is stored. Pairs with the acquire fence of a reader, between its copy and its second look at the tail.
  std::atomic_thread_fence(std::memory_order_release);
}

void ring_file::commit(std::size_t used_bytes, std::int64_t time_ns) noexcept {
  room_bytes_ = 0;
  if (used_bytes == 0) return;
  frame_header& header = header_at(head_);
  const std::byte* const lines = mapping_.data() + head_ % mapping_.data_bytes() + frame_header_bytes;
  frame_facts frame{.position = head_,
                    .sequence = sequence_,
                    .time_ns = time_ns,
                    .line_bytes = static_cast<std::uint32_t>(used_bytes),
                    .flags = line_unfinished_ ? frame_continues_line : 0U};
  if (checksums_) {
    frame.flags |= frame_has_checksum;
    frame.checksum = crc32c({lines, used_bytes});
  }
  header.position = frame.position;
  header.sequence = frame.sequence;
  header.time_ns = frame.time_ns;
  header.line_bytes = frame.line_bytes;
  header.flags = frame.flags;
  // The place of the next mark holds bytes of an earlier lap. It is cleared before this frame counts, so that the chain always has an end.
  header_at(frame.end()).mark.store(0, std::memory_order_relaxed);
  line_unfinished_ = lines[used_bytes - 1] != std::byte{'\n'};
  // Pairs with the acquire load in frame_at(): whoever sees the mark sees the lines, also after this process is killed.
  header.mark.store(frame_mark(file_id_, frame), std::memory_order_release);
  head_ = frame.end();
  ++sequence_;
  dirty_ = true;
}

outcome ring_file::sync() noexcept {
  if (damaged()) return {errc::io, EIO};
  if (!dirty_) return {};
  if (!failed_sync_.ok()) {
    // Blocks that were never written before may stay so, whatever a second sync says (ring_create.cpp).
    if (!checksums_) return failed_sync_;
    make_dirty_again();
  }
  failed_sync_ = os::sync_data(file_.get());
  if (!failed_sync_.ok()) return failed_sync_;
  dirty_ = false;
  synced_ = head_;
  return {};
}

/// Stores to every page that was committed since the last sync that worked, and to the header page.
void ring_file::make_dirty_again() noexcept {
  const os::sigbus_unblocked unblocked;
  const std::size_t page = os::system_page_bytes();
  const std::uint64_t bytes = std::min<std::uint64_t>(head_ - synced_ + frame_header_bytes, mapping_.data_bytes());
  const std::uint64_t offset = synced_ % mapping_.data_bytes() / page * page;
  const std::uint64_t end = std::min<std::uint64_t>(offset + bytes + page, 2 * mapping_.data_bytes());
  os::touch_pages_for_writing({mapping_.header(), page});
  os::touch_pages_for_writing({mapping_.data() + offset, static_cast<std::size_t>(end - offset)});
}

ring_file::standing ring_file::look_at(const std::filesystem::path& path) const noexcept {
  standing result;
  struct stat ours {};
  if (os::calls().fstat(file_.get(), &ours) != 0) return result;
  result.empty = ours.st_size == 0;
  result.shrunk = static_cast<std::size_t>(ours.st_size) < os::system_page_bytes() + mapping_.data_bytes();
  struct stat there {};
  if (os::calls().stat(path.c_str(), &there) == 0) {
    result.at_path = there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
    result.moved = !result.at_path;
  } else {
    result.moved = errno == ENOENT;
  }
  return result;
}

void ring_file::note_stop() noexcept {
  const os::sigbus_unblocked unblocked;
  header().owner_stopped.store(1, std::memory_order_relaxed);
}

void ring_file::disown() noexcept {
  if (guard_) guard_->forget();
  mapping_.forget();
  file_.reset();
}

}  // namespace penstock::sinks
