// SPDX-License-Identifier: MIT
// One sink in use: lays lines out in the batch that the sink lends, hands batches over when they are full or due, holds them when the sink
// is in trouble, and keeps the sink's ledger: taken = written + lost + held.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/detail/record.hpp>
#include <penstock/sink.hpp>
#include <penstock/stats.hpp>

#include "lib/backend/escape.hpp"
#include "lib/backend/line_layout.hpp"
#include "lib/backend/line_marks.hpp"
#include "lib/backend/line_source.hpp"
#include "lib/backend/message.hpp"

namespace penstock::backend {

struct output_settings {
  std::string name{};
  std::int64_t flush_interval_ns = 20'000'000;
  level flush_level = level::error;
  sync_policy sync{};
};

/// What an output has to tell, until the worker has passed it on.
struct output_news {
  outcome trouble{};                ///< of the last failed call; ok: none
  bool disabled = false;            ///< the sink was given up
  bool recovered = false;           ///< trouble is over
  bool synced_again = false;        ///< a sync works that had failed, and the log does not say so yet
  std::uint64_t lost = 0;           ///< records lost and not reported yet
  std::uint64_t lost_unlogged = 0;  ///< records lost, of which the log does not say so yet
  std::int64_t next_report_ns = 0;
};

class output {
 public:
  output(std::unique_ptr<sink> destination, std::shared_ptr<line_layout> layout, output_settings settings);

  /// Cuts texts that outgrow a record when their line is laid out, and counts them there. Without this, none is cut.
  ///
  /// Owner: `cuts` outlives this.
  void limit_texts(std::size_t record_bytes_max, cut_counter& cuts) noexcept {
    record_bytes_max_ = record_bytes_max;
    cuts_ = &cuts;
  }

  /// Whether the next line can be put now. Asks the sink for room if there is none, or none for lines of that time.
  bool ready(wall_ns time = 0) noexcept {
    line_time_ = time;
    return (pos_ < end_ && time < until_) || disabled_ || find_room();
  }

  /// ready(), for lines that may be lost: a sink that had no room in this turn is not asked again in it.
  bool ready_at_once(wall_ns time) noexcept { return (full_epoch_ != epoch_ || pos_ < end_) && ready(time); }

  /// Lays out one line. Only after ready(). A line that finds no more room half way is finished as soon as the sink lends again.
  ///
  /// Thread: the owner of the backend.
  void put(const line_source& line) noexcept;
  /// Counts a line that finds no room as lost, for this sink alone.
  void lose(level of_record) noexcept;
  /// The same for a line of the library's own, which stands in no ledger.
  void put_note(const line_source& line) noexcept;

  /// Hands over, tries again, syncs, whatever is due at `now_ns` (steady clock).
  void upkeep(std::int64_t now_ns) noexcept;
  /// Hands the open batch over now.
  void submit() noexcept;
  /// Everything put so far: ok with the kernel; pending; or the trouble that holds it up.
  outcome flush() noexcept;
  /// The same, and on the medium. A sync that is asked for by the configuration goes on in upkeep() while it is pending.
  outcome sync() noexcept;
  /// Whether a sync has failed since this was asked last, whoever wanted that sync.
  bool take_sync_failure() noexcept { return std::exchange(sync_untold_, false); }
  outcome reopen() noexcept { return sink_->reopen(); }
  /// Gives up what cannot be written, and the sink: at the end of stop().
  void abandon() noexcept;
  /// Gives up what the sink holds after an error: after stop(), when nobody will try again.
  void lose_held() noexcept {
    if (in_trouble()) give_up(false);
  }

  /// When upkeep() has something to do next; nanoseconds::max() as int64: nothing.
  std::int64_t next_due_ns() const noexcept;
  bool holds_anything() const noexcept { return pos_ != room_begin_ || !marks_.empty(); }
  bool urgent() const noexcept { return urgent_; }
  bool in_trouble() const noexcept { return !trouble_.ok(); }
  bool disabled() const noexcept { return disabled_; }

  /// A number that grows with each batch that is begun: what was put before batch n was begun is done once oldest_open() >= n.
  /// `now_ns` by the steady clock, `wall_now` by that of records: a batch is due by the age of its first record.
  void begin_epoch(std::uint64_t epoch, std::int64_t now_ns, wall_ns wall_now) noexcept {
    epoch_ = epoch;
    now_ns_ = now_ns;
    wall_now_ = wall_now;
  }
  std::uint64_t oldest_open_epoch() const noexcept { return first_open_ == open_.size() ? latest_open_.epoch : open_[first_open_].epoch; }

  /// Copies the ledger to where stats() reads it.
  void publish() noexcept;
  sink_stats stats() const;
  std::uint64_t lost_count() const noexcept { return lost_.total(); }
  output_news& news() noexcept { return news_; }
  /// What the error handler is told of the trouble.
  std::string trouble_text() const;
  /// What the log is told once a sync works again.
  std::string synced_again_text() const;
  const output_settings& settings() const noexcept { return settings_; }

  /// Ends the sink; afterwards single lines go to what it leaves behind. False: nothing takes lines any more.
  bool retire() noexcept;
  /// Forgets what is kept of lines by their statement.
  void forget_statements() noexcept { layout_->forget(); }
  sink& destination() noexcept { return *sink_; }

 private:
  bool find_room(std::size_t line_bytes = 0) noexcept;
  void hand_over() noexcept;
  void handle(outcome result) noexcept;
  std::int64_t retry_wait_ns() const noexcept;
  bool sync_wanted() const noexcept {
    return unsynced_ && !in_trouble() && (settings_.sync.each_batch || settings_.sync.interval.count() > 0);
  }
  outcome flush_submitted() noexcept;
  outcome sync_after(outcome flushed) noexcept;
  void settle() noexcept;
  void give_up(bool disable) noexcept;
  void put_anew(const line_source& line);
  void put_shared(const line_source& line);
  bool put_text(const line_source& line, line_frame& frame) noexcept;
  template <bool large_room>
  bool put_arguments(const line_source& line, line_frame& frame);
  void shorten(const line_source& line, detail::text_out& out) noexcept;
  void put_aside(const line_source& line, line_frame& frame, std::string_view message);
  std::string_view escaped(std::string_view message);
  void end_line(char* message_end, const line_frame& frame) noexcept;
  void put_slowly(const line_source& line);
  void write_new(const laid_line& line, std::uint64_t number);
  void write(const laid_line& line);
  void write_piece(std::string_view piece);
  bool must_escape(std::string_view message, bool known_printable) const noexcept;
  void lay_out(const line_source& line);
  void begin_batch(wall_ns first_time) noexcept;
  void mark(const line_source& line) noexcept;
  void open_epoch_entry() noexcept;
  void count_lost(level of_record) noexcept;
  void lose_for_memory(level of_record) noexcept;
  void close_epochs(std::uint64_t done_bytes) noexcept;
  void describe() noexcept;
  void look_after_sink() noexcept;
  std::uint64_t laid_bytes() const noexcept { return room_offset_ + static_cast<std::uint64_t>(pos_ - room_begin_) + carry_.size(); }

  std::unique_ptr<sink> sink_;
  std::shared_ptr<line_layout> layout_;  // Of other outputs too, if their lines are the same.
  output_settings settings_;

  char* room_begin_ = nullptr;
  char* pos_ = nullptr;
  char* end_ = nullptr;
  cut cut_ = cut::pages;
  wall_ns until_ = std::numeric_limits<wall_ns>::max();  // Lines from this time on are not for this room.
  wall_ns line_time_ = 0;                                // Of the line that is being put; 0: not known.
  std::uint64_t room_offset_ = 0;                        // Bytes handed over before this room.
  std::uint64_t given_up_bytes_ = 0;                     // Of these, what was not written when it was given up.
  std::string carry_;                                    // The rest of a line that found no room.
  text_spill spill_;
  std::size_t record_bytes_max_ = ~std::size_t{0};
  bool large_room_ = false;  // The room may hold a text that is too long for a record.
  cut_counter* cuts_ = nullptr;
  std::string line_;  // A line that is not laid out in place.
  std::string escaped_;

  line_marks marks_;
  struct open_epoch {
    std::uint64_t epoch;
    std::uint64_t end_bytes;  // Of its last line.
  };
  static constexpr open_epoch none_open{~std::uint64_t{0}, 0};
  std::vector<open_epoch> open_;  // Epochs with lines that are not done, from first_open_ on, before the latest one.
  std::size_t first_open_ = 0;
  open_epoch latest_open_ = none_open;
  std::uint64_t epoch_ = 0;
  std::int64_t now_ns_ = 0;
  wall_ns wall_now_ = 0;
  std::int64_t due_ns_ = 0;  // When the open batch is due; 0: it is empty.
  bool urgent_ = false;
  std::int64_t next_sync_ns_ = 0;
  bool unsynced_ = false;
  bool sync_failing_ = false;         // The last sync has failed.
  bool sync_untold_ = false;          // One has, and nobody who asked for a sync knows.
  int sync_error_ = 0;                // Of the last that failed.
  std::uint64_t synced_bytes_ = 0;    // Handed over when a sync last worked.
  std::uint64_t doubtful_bytes_ = 0;  // The same, before those failures that are over and that the log is to be told of.

  outcome trouble_{};
  outcome last_trouble_{};
  int attempts_ = 0;     // In a row, since something was written.
  int io_attempts_ = 0;  // Of these, the last ones that did not fail for want of space.
  std::int64_t retry_ns_ = 0;
  bool disabled_ = false;
  bool starved_ = false;                          // It has lost lines since there was room.
  std::uint64_t full_epoch_ = ~std::uint64_t{0};  // The last turn in which the sink had no room.
  output_news news_{};
  std::int64_t next_maintenance_ns_ = 0;

  // The ledger; the published copy is read by stats().
  level_counts taken_{}, written_{}, lost_{};
  std::uint64_t batches_ = 0, bytes_ = 0, errors_ = 0;
  latency_histogram latency_{};
  mutable std::mutex published_mutex_;
  sink_stats published_{};
};

}  // namespace penstock::backend
