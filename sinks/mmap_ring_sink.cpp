// SPDX-License-Identifier: MIT
// The mmap ring sink: lends the mapping of a file of fixed size, so that lines are laid out directly in the file. Handing a batch over is a
// few stores. The only thing that can go wrong is that somebody takes the file away from under the mapping; most of this file is about
// that.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "lib/os/sigbus_guard.hpp"
#include "sinks/factory.hpp"
#include "sinks/ring_file.hpp"

namespace penstock::sinks {
namespace {

std::int64_t unix_ns(std::chrono::system_clock::time_point time) noexcept {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// What an exception of ring_file::open() means for the backend.
outcome outcome_of_exception() noexcept {
  try {
    throw;
  } catch (const std::system_error& error) {
    return os::outcome_of(error.code().value());
  } catch (const std::bad_alloc&) {
    return {errc::io, ENOMEM};
  } catch (...) {
    return {errc::io, EINVAL};  // a file that is no ring stands at the path
  }
}

class mmap_ring_sink final : public sink {
 public:
  explicit mmap_ring_sink(sink_config settings) : settings_(std::move(settings)), ring_(ring_file::open(settings_)) {}
  /// Takes over the ring of a sink that ends.
  mmap_ring_sink(sink_config settings, std::unique_ptr<ring_file> ring) noexcept
      : settings_(std::move(settings)), ring_(std::move(ring)), retired_(true) {}

  batch lend(lend_request request) noexcept override;
  outcome submit(std::size_t used_bytes) noexcept override;
  outcome resume() noexcept override;
  std::size_t abandon() noexcept override;
  outcome flush() noexcept override;
  outcome sync() noexcept override;
  outcome reopen() noexcept override;
  outcome maintain() noexcept override;
  std::unique_ptr<sink> retire() noexcept override;
  void disown_after_fork() noexcept override;
  sink_description describe() const override { return {.kind = "mmap_ring", .fallback = {}}; }

 private:
  /// What of the open batch was there before the file went.
  enum class loss { none, up_to_fault, all };

  outcome hold(std::size_t used_bytes, loss lost) noexcept;
  outcome rebuild() noexcept;
  outcome move_damaged_away() noexcept;
  void write(std::span<const std::byte> lines) noexcept;
  std::unique_ptr<ring_file> switch_to_next() noexcept;

  sink_config settings_;
  std::unique_ptr<ring_file> ring_;
  std::unique_ptr<ring_file> next_{};  ///< opened while `ring_` had a batch lent or a line unfinished; takes over at the end of a line
  bool retired_ = false;
  bool lent_ = false;
  bool lent_damaged_ = false;  ///< the room was anonymous memory already when it was lent: all of it is intact
  bool shrunk_ = false;        ///< seen by maintain() while a batch was lent
  std::int64_t line_time_ns_ = 0;
  std::span<std::byte> room_{};
  std::vector<std::byte> held_{};  ///< what is left of a batch whose ring went away
  std::size_t batch_bytes_ = 0;    ///< of that batch
  bool rest_expected_ = false;     ///< the next batch begins with the rest of a line whose beginning is lost
  outcome error_{};                ///< not ok: `held_` waits for resume() or abandon()
};

batch mmap_ring_sink::lend(lend_request request) noexcept {
  if (!error_.ok() || !ring_) return {};
  // The signal masks of callers after stop() are not ours to keep changed, and may be put back at any time.
  if (retired_)
    os::unblock_sigbus();
  else
    os::let_sigbus_through();
  if (!lent_) {
    line_time_ns_ = unix_ns(request.line_time);
    room_ = ring_->make_room();
    lent_ = true;
    lent_damaged_ = ring_->damaged();
  }
  // Before the ring is changed for another, its last batch ends with a line, so that no line is divided between two files.
  return {room_, next_ ? cut::lines : cut::pages};
}

outcome mmap_ring_sink::submit(std::size_t used_bytes) noexcept {
  if (!lent_) return {};
  lent_ = false;
  if (ring_->damaged()) [[unlikely]] {
    const auto* const fault = ring_->fault_address();
    const bool while_filling = fault >= room_.data() && fault < room_.data() + used_bytes;
    return hold(used_bytes, lent_damaged_ ? loss::none : while_filling ? loss::up_to_fault : loss::all);
  }
  if (shrunk_) [[unlikely]] {
    os::touch_pages_for_writing(room_.first(used_bytes));
    return hold(used_bytes, ring_->damaged() ? loss::all : loss::none);
  }
  if (next_ && !ring_->line_unfinished()) [[unlikely]] {
    // Nobody will look at the old file for this batch.
    const std::unique_ptr<ring_file> old = switch_to_next();  // whose mapping the batch is in
    write(room_.first(used_bytes));
    return {};
  }
  ring_->commit(used_bytes, line_time_ns_ != 0 ? line_time_ns_ : unix_ns(std::chrono::system_clock::now()));
  if (ring_->damaged()) [[unlikely]]
    return hold(used_bytes, loss::all);
  return {};
}

/// Keeps what is left of the batch, behind a line that says what is not. The ring itself is gone.
outcome mmap_ring_sink::hold(std::size_t used_bytes, loss lost) noexcept {
  std::span<const std::byte> intact = room_.first(used_bytes);
  bool inside_line = false;
  if (lost == loss::all) {
    intact = {};
    rest_expected_ = used_bytes == room_.size();  // as a full batch nearly always does, it ended inside a line
  } else {
    // What was laid out before the fault went to the old file: the memory that took its place had zeros there. Not told by the address of
    // the fault, since a copy of a few bytes may store its end first.
    if (lost == loss::up_to_fault) {
      const auto first = std::ranges::find_if(intact, [](std::byte each) { return each != std::byte{0}; });
      intact = intact.subspan(static_cast<std::size_t>(first - intact.begin()));
    }
    inside_line = intact.size() != used_bytes || ring_->line_unfinished();
  }
  if (inside_line) {
    // The beginning of this line is lost, so its rest is not written either.
    const auto newline = std::ranges::find(intact, std::byte{'\n'});
    rest_expected_ = newline == intact.end();
    intact = intact.subspan(static_cast<std::size_t>(newline - intact.begin()) + (rest_expected_ ? 0 : 1));
  }
  batch_bytes_ = used_bytes;
  try {
    std::string notice = "penstock: the file of this ring was truncated or could not be read; a new one begins here";
    if (used_bytes != intact.size())
      notice += ", and " + std::to_string(used_bytes - intact.size()) + " bytes of the batch being written are lost";
    notice += '\n';
    const auto bytes = std::as_bytes(std::span(notice));
    held_.assign(bytes.begin(), bytes.end());
    held_.insert(held_.end(), intact.begin(), intact.end());
  } catch (const std::bad_alloc&) {
    held_.clear();
  }
  error_ = {errc::io, EIO};
  return error_;
}

outcome mmap_ring_sink::resume() noexcept {
  if (error_.ok()) return {};
  if (const outcome rebuilt = rebuild(); !rebuilt.ok()) {
    error_ = rebuilt;
    return error_;
  }
  write(held_);
  if (rest_expected_) ring_->expect_rest_of_line();
  rest_expected_ = false;
  held_.clear();
  error_ = {};
  return {};
}

std::size_t mmap_ring_sink::abandon() noexcept {
  held_.clear();
  error_ = {};
  return batch_bytes_;
}

outcome mmap_ring_sink::flush() noexcept { return error_; }

outcome mmap_ring_sink::sync() noexcept {
  if (!error_.ok()) return error_;
  return ring_ ? ring_->sync() : outcome{};
}

/// Opens the path anew; the ring in use is left for the new one with the next submit, or now.
outcome mmap_ring_sink::reopen() noexcept {
  if (!ring_ || next_) return {};
  const ring_file::standing standing = ring_->look_at(settings_.path);
  if (standing.shrunk || ring_->damaged()) return maintain();
  if (!standing.moved) return {};
  try {
    next_ = ring_file::open(settings_, ring_->next_sequence());
  } catch (...) {
    return outcome_of_exception();
  }
  if (!lent_ && !ring_->line_unfinished()) static_cast<void>(switch_to_next());
  return {};
}

outcome mmap_ring_sink::maintain() noexcept {
  if (!ring_ || !error_.ok() || next_) return {};
  const ring_file::standing standing = ring_->look_at(settings_.path);
  if (standing.shrunk || ring_->damaged()) {
    if (lent_) {
      shrunk_ = true;
      return {};  // submit() tells
    }
    room_ = {};
    static_cast<void>(hold(0, loss::none));
    if (const outcome rebuilt = resume(); !rebuilt.ok()) return rebuilt;
    return {errc::io, EIO};  // it goes on, but what the file held is gone: said once
  }
  return standing.moved && settings_.reopen ? reopen() : outcome{};
}

/// Puts a new ring in the place of one that lost its file. On failure, all stays as it is.
outcome mmap_ring_sink::rebuild() noexcept {
  if (!next_) {
    if (const outcome moved = move_damaged_away(); !moved.ok()) return moved;
    try {
      next_ = ring_file::open(settings_, ring_->next_sequence());
    } catch (...) {
      return outcome_of_exception();
    }
  }
  static_cast<void>(switch_to_next());
  return {};
}

/// A damaged ring still at the path is renamed to PATH.damaged, for whoever wants to look at it; an empty one is removed.
outcome mmap_ring_sink::move_damaged_away() noexcept {
  const ring_file::standing standing = ring_->look_at(settings_.path);
  if (!standing.at_path) return {};
  const std::string damaged_path = settings_.path.string() + ".damaged";
  const int result = standing.empty ? ::unlink(settings_.path.c_str()) : std::rename(settings_.path.c_str(), damaged_path.c_str());
  return result == 0 || errno == ENOENT ? outcome{} : os::outcome_of(errno);
}

/// Copies lines into the ring, as many frames as they need.
void mmap_ring_sink::write(std::span<const std::byte> lines) noexcept {
  while (!lines.empty()) {
    const std::span<std::byte> room = ring_->make_room();
    const std::size_t piece_bytes = std::min(room.size(), lines.size());
    std::memcpy(room.data(), lines.data(), piece_bytes);
    ring_->commit(piece_bytes, unix_ns(std::chrono::system_clock::now()));
    lines = lines.subspan(piece_bytes);
  }
}

/// Gives the ring that was in use.
std::unique_ptr<ring_file> mmap_ring_sink::switch_to_next() noexcept {
  next_->number_from(ring_->next_sequence());
  shrunk_ = false;
  return std::exchange(ring_, std::move(next_));
}

std::unique_ptr<sink> mmap_ring_sink::retire() noexcept {
  if (!ring_) return nullptr;
  lent_ = false;
  if (next_ && !ring_->line_unfinished()) static_cast<void>(switch_to_next());
  ring_->note_stop();
  try {
    return std::make_unique<mmap_ring_sink>(settings_, std::move(ring_));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void mmap_ring_sink::disown_after_fork() noexcept {
  for (auto* const ring : {&ring_, &next_}) {
    if (*ring) (*ring)->disown();
    ring->reset();
  }
  lent_ = false;
}

}  // namespace

std::unique_ptr<sink> make_mmap_ring_sink(const sink_config& settings) {
  if (settings.path.empty()) throw config_error("an mmap_ring sink needs a path: set path");
  sink_config resolved = settings;
  resolved.path = std::filesystem::absolute(settings.path);
  return std::make_unique<mmap_ring_sink>(std::move(resolved));
}

}  // namespace penstock::sinks
