// SPDX-License-Identifier: MIT
// Rotation, around any sink that writes a file: the live file keeps its path; when it is full or its period is over, it gets a name of its
// own (rotation_names.hpp) and the sink inside opens its path anew. What surprises: the new file is there before the old one is moved. Its
// name is reserved by making an empty file under it, and then both change places in one step, so that a disk that is full or a folder that
// may not be written to leaves the old file where it is and in use.
//
//   lend()  limits the room to what the file has left  ──► due, at the end of a line: drain ──► rotate ──► lend
//                      path        path.…Z-0007
//   reserve            old         empty
//   exchange           empty       old            ◄── the sink inside still writes to `old`
//   hand over          new         closed         ──► rotation_helper
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/config.hpp>
#include <penstock/sink.hpp>

#include "lib/os/file.hpp"
#include "sinks/next_file.hpp"
#include "sinks/rotation_helper.hpp"
#include "sinks/rotation_names.hpp"

namespace penstock::sinks {

class rotating_sink final : public sink {
 public:
  using maker = std::unique_ptr<sink> (*)(const sink_config& settings);

  /// Errors: what `make` throws; config_error if the path is no regular file; std::system_error if the helper has no thread.
  rotating_sink(const sink_config& settings, maker make);
  ~rotating_sink() override;

  batch lend(lend_request request) noexcept override;
  outcome submit(std::size_t used_bytes) noexcept override;
  outcome resume() noexcept override { return inside_->resume(); }
  std::size_t abandon() noexcept override;
  outcome flush() noexcept override { return inside_->flush(); }
  /// Closed files that the last sync() did not see are synced as well.
  outcome sync() noexcept override;
  outcome reopen() noexcept override;
  std::uint64_t in_flight_bytes() const noexcept override { return inside_->in_flight_bytes(); }
  /// Also tells, once each, why a rotation or the work on closed files failed.
  outcome maintain() noexcept override;
  std::unique_ptr<sink> retire() noexcept override { return inside_->retire(); }
  void disown_after_fork() noexcept override;
  sink_description describe() const override { return inside_->describe(); }

 private:
  using moment = std::chrono::system_clock::time_point;
  using steady = std::chrono::steady_clock;

  enum class verdict : std::uint8_t { go_on, wait };

  verdict make_way(lend_request request) noexcept;
  moment time_of(lend_request request) const noexcept;
  bool is_due(moment now, std::size_t line_bytes) noexcept;
  batch limited(batch lent, lend_request request) const noexcept;

  outcome rotate(moment now) noexcept;
  outcome reserve(moment now, os::descriptor& next) noexcept;
  os::descriptor ready(os::descriptor made) const noexcept;
  outcome exchange(os::descriptor& next) noexcept;
  void take_back() noexcept;
  bool hand_over(os::descriptor next) noexcept;
  outcome finish_switch() noexcept;
  void switched() noexcept;
  void failed(outcome why) noexcept;

  void follow() noexcept;
  void begin(const struct stat& facts) noexcept;
  bool look() noexcept;
  outcome guard() noexcept;
  outcome sync_closed() noexcept;
  std::filesystem::path closed_path(const rotated_name& name) const { return path_.string() + name.suffix(); }

  rotate_config rules_;
  std::filesystem::path path_;
  mode_t mode_;
  bool shared_;  ///< other processes may write to the file too
  std::unique_ptr<sink> inside_;
  next_file_taker* taker_;  ///< the sink inside; null: it opens its files by their path
  os::descriptor guard_{};  ///< of a shared file: locked while somebody writes to it, so that nobody compresses it
  std::shared_ptr<closed_files> closed_;

  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t size_bytes_ = 0;  ///< what is in the file and on its way to it
  moment turn_ = moment::max();   ///< lines from this time on belong to the next file
  bool turn_known_ = false;       ///< false: the file is empty, and its first line decides

  std::span<std::byte> room_{};
  bool mid_line_ = false;   ///< what was submitted ends inside a line
  bool switching_ = false;  ///< the files have changed places, the sink inside has yet to notice
  rotated_name last_name_{};
  steady::time_point retry_at_{};  ///< after a failure; until then the old file takes everything
  outcome trouble_{};              ///< not told yet
  int told_error_ = 0;             ///< told last, so that one trouble is told once
  steady::time_point next_age_look_{};

  std::vector<rotated_name> unsynced_{};
  bool too_many_unsynced_ = false;
};

std::unique_ptr<sink> make_rotating_sink(const sink_config& settings, rotating_sink::maker make);

}  // namespace penstock::sinks
