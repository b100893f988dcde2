// SPDX-License-Identifier: MIT
#include "sinks/write_queue.hpp"

#include <algorithm>

namespace penstock::sinks {

std::uint64_t write_queue::unwritten_bytes() const noexcept {
  std::uint64_t bytes = end() - written();
  for (std::size_t index = 0; index < count_; ++index) {
    const queued_batch& one = (*this)[index];
    // Behind the first batch all bytes count as not written, its own ones too.
    bytes -= index == 0 ? one.own_bytes - std::min(one.own_bytes, one.done_bytes) : one.own_bytes;
  }
  return bytes;
}

void write_queue::push(queued_batch fresh) noexcept {
  fresh.begin = end_;
  end_ += fresh.bytes;
  batches_[(first_ + count_) % batches_.size()] = fresh;
  ++count_;
}

void write_queue::sent(queued_batch& which, std::size_t piece_bytes) noexcept {
  which.piece_bytes = piece_bytes;
  ++on_the_way_;
}

void write_queue::returned(queued_batch& which, std::size_t written_bytes) noexcept {
  which.done_bytes += std::min(written_bytes, which.piece_bytes);
  which.piece_bytes = 0;
  --on_the_way_;
}

void write_queue::recall() noexcept {
  for (std::size_t index = 0; index < count_; ++index) (*this)[index].piece_bytes = 0;
  on_the_way_ = 0;
}

bool write_queue::pop_done(unsigned& buffer) noexcept {
  if (empty() || !(*this)[0].done()) return false;
  buffer = (*this)[0].buffer;
  first_ = (first_ + 1) % batches_.size();
  --count_;
  return true;
}

unsigned write_queue::pop_last() noexcept {
  const queued_batch& last = (*this)[count_ - 1];
  // What the first batch has brought into the file stays there.
  end_ = count_ == 1 ? last.position() : last.begin;
  --count_;
  return last.buffer;
}

void write_queue::forget_behind_gap() noexcept {
  bool gap = false;
  for (std::size_t index = 0; index < count_; ++index) {
    queued_batch& one = (*this)[index];
    if (gap) one.done_bytes = 0;
    gap = gap || !one.done();
  }
}

void write_queue::start_at_open_line() noexcept {
  if (empty()) return;
  queued_batch& one = (*this)[0];
  std::size_t keep = one.done_bytes;
  while (keep > 0 && one.data[keep - 1] != std::byte{'\n'}) --keep;
  one.data += keep;
  one.bytes -= keep;
  one.begin += keep;
  one.done_bytes -= keep;
  one.own_bytes -= std::min(one.own_bytes, keep);
}

void write_queue::move_to(std::uint64_t offset) noexcept {
  for (std::size_t index = 0; index < count_; ++index) {
    queued_batch& one = (*this)[index];
    one.begin = offset;
    one.done_bytes = 0;
    offset += one.bytes;
  }
  end_ = offset;
}

}  // namespace penstock::sinks
