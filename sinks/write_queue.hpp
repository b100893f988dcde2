// SPDX-License-Identifier: MIT
// The batches that a sink has taken and whose bytes are not all known to be in the file yet, in the order of the file. Pure bookkeeping: it
// knows offsets and counts, nothing of rings. What counts as written is the contiguous prefix; a batch behind a gap counts for nothing,
// even if its bytes are in the file already, and its memory is kept until the gap is closed.
//
//   written()                                        end()
//      |  first batch: done | not done |  next batch  |
//      '------------------------------- unwritten ----'
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::sinks {

struct queued_batch {
  const std::byte* data = nullptr;
  unsigned buffer = 0;          ///< whose memory `data` lies in
  std::uint64_t begin = 0;      ///< file offset of data[0]
  std::size_t bytes = 0;        ///< length of `data`
  std::size_t own_bytes = 0;    ///< how many of its first bytes are the sink's own and not counted (the newline of a seam)
  std::size_t done_bytes = 0;   ///< written, from the first on
  std::size_t piece_bytes = 0;  ///< length of the piece that is on its way; 0: none
  bool piece_direct = false;    ///< that piece bypasses the page cache
  bool piece_dropped = false;   ///< that piece asks for its pages to be dropped
  unsigned failures = 0;        ///< passing failures in a row

  std::uint64_t position() const noexcept { return begin + done_bytes; }
  std::span<const std::byte> rest() const noexcept { return {data + done_bytes, bytes - done_bytes}; }
  bool done() const noexcept { return done_bytes == bytes; }
};

class write_queue {
 public:
  /// Errors: std::bad_alloc.
  explicit write_queue(unsigned capacity) : batches_(capacity) {}

  bool empty() const noexcept { return count_ == 0; }
  std::size_t size() const noexcept { return count_; }
  /// The batch at `index` in file order.
  queued_batch& operator[](std::size_t index) noexcept { return batches_[(first_ + index) % batches_.size()]; }
  const queued_batch& operator[](std::size_t index) const noexcept { return batches_[(first_ + index) % batches_.size()]; }

  /// A number that stays the batch's own while it is in the queue, and the way back from it.
  unsigned tag_of(std::size_t index) const noexcept { return static_cast<unsigned>((first_ + index) % batches_.size()); }
  queued_batch& tagged(std::uint64_t tag) noexcept { return batches_[static_cast<std::size_t>(tag)]; }

  /// File offset behind the last batch.
  std::uint64_t end() const noexcept { return end_; }
  /// File offset of the end of the contiguous prefix.
  std::uint64_t written() const noexcept { return empty() ? end_ : (*this)[0].position(); }
  /// Bytes from there to end(), without the sink's own.
  std::uint64_t unwritten_bytes() const noexcept;
  /// How many batches have a piece on its way.
  std::size_t on_the_way() const noexcept { return on_the_way_; }

  /// Empty queue only: the next batch goes to `offset`.
  void start_at(std::uint64_t offset) noexcept { end_ = offset; }

  void push(queued_batch fresh) noexcept;
  /// Notes that the next `piece_bytes` bytes of the batch are on their way.
  void sent(queued_batch& which, std::size_t piece_bytes) noexcept;
  /// Notes that the piece came back with `written_bytes` bytes written.
  void returned(queued_batch& which, std::size_t written_bytes) noexcept;
  /// Nothing is on its way any more, whatever became of it.
  void recall() noexcept;

  /// Takes the first batch out if it is done, and says whose memory is free now; false: it is not.
  bool pop_done(unsigned& buffer) noexcept;
  /// Takes the last batch out, whatever became of it.
  unsigned pop_last() noexcept;

  /// What is behind the gap was cut off the file, and has to be written again.
  void forget_behind_gap() noexcept;
  /// Gives up what the first batch has brought into whole lines of the old file: it starts again at the line that was under way.
  void start_at_open_line() noexcept;
  /// The file ends at `offset` now: every batch goes there anew, from its first byte on.
  void move_to(std::uint64_t offset) noexcept;

 private:
  std::vector<queued_batch> batches_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  std::size_t on_the_way_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace penstock::sinks
