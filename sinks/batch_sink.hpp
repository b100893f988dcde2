// SPDX-License-Identifier: MIT
// What all sinks with one batch of their own share: lending, holding what could not be written, and keeping lines whole at the seam after
// something was given up. A sink adds one function, put(), which brings bytes to the destination and says how far it got.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <penstock/sink.hpp>

#include "lib/os/batch_buffer.hpp"
#include "lib/os/file.hpp"

namespace penstock::sinks {

class batch_sink : public sink {
 public:
  batch lend(lend_request request) noexcept override;
  outcome submit(std::size_t used_bytes) noexcept override;
  outcome resume() noexcept override;
  std::size_t abandon() noexcept override;
  outcome flush() noexcept override;

 protected:
  /// Batches of `batch_bytes`. Where they end after lines, there is one page more, so that the phase takes nothing from the room.
  /// `direct`: O_DIRECT reads them.
  batch_sink(std::size_t batch_bytes, cut end, bool direct = false)
      : memory_(batch_bytes + (end == cut::lines ? os::page_bytes : 0), direct), end_(end), spare_page_(end == cut::lines) {}
  /// Batches in memory that another sink had.
  batch_sink(os::batch_buffer memory, cut end) noexcept : memory_(std::move(memory)), end_(end) {}

  /// Brings `data` to the destination, as far as it goes.
  virtual os::write_result put(std::span<const std::byte> data) noexcept = 0;

  /// The file offset of the next batch's first byte, for its phase.
  virtual std::uint64_t next_offset() const noexcept { return 0; }

  /// Called when a batch is written and the destination ends after a whole line.
  virtual void at_line_end() noexcept {}

  bool holds() const noexcept { return !held_.empty(); }
  bool mid_line() const noexcept { return last_byte_ != std::byte{'\n'}; }

  /// The next batches end after a whole line, until the destination does.
  void wish_line_end() noexcept { line_end_wished_ = true; }

  /// The destination is another one now, which ends with `last_byte` ('\n' if it is empty). What is held starts again at the line that was
  /// under way, as far as its beginning is still here.
  void destination_changed(std::byte last_byte) noexcept;

  /// For retire(): the memory, for the sink that goes on.
  os::batch_buffer take_memory() noexcept { return std::move(memory_); }

 private:
  outcome push() noexcept;

  os::batch_buffer memory_;
  cut end_;
  bool spare_page_ = false;
  bool lent_ = false;
  bool line_end_wished_ = false;
  bool starts_line_ = true;  ///< the batch in hand begins with a line
  bool seam_ = false;        ///< the destination ends inside a line that will not go on: a newline comes first
  std::byte last_byte_{'\n'};
  std::span<std::byte> room_{};
  std::span<const std::byte> held_{};
  outcome held_because_{};
};

}  // namespace penstock::sinks
