// SPDX-License-Identifier: MIT
// What sinks with a path share: opening, noticing that the file was moved or deleted, opening anew between two lines, and the small sink
// that goes on after stop().
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include <penstock/sink.hpp>

#include "lib/os/file.hpp"
#include "sinks/batch_sink.hpp"
#include "sinks/next_file.hpp"

namespace penstock::sinks {

class file_sink : public batch_sink, public next_file_taker {
 public:
  outcome sync() noexcept override;
  /// errc::pending: a line is under way; the file is opened anew by itself as soon as it ends.
  outcome reopen() noexcept override;
  outcome maintain() noexcept override;
  void disown_after_fork() noexcept override;
  const os::open_options& next_file_options() const noexcept override { return way_.open; }
  outcome take_next_file(os::descriptor fresh) noexcept override;

 protected:
  struct how {
    cut cut_at = cut::pages;
    os::open_options open{};
  };

  /// Opens the file; the sink that derives from this calls adopt() on it.
  file_sink(const sink_config& settings, how way);

  /// Makes `fresh` the file that is written to. On failure the old one stays.
  virtual outcome adopt(os::descriptor fresh) noexcept = 0;

  os::descriptor open_file() const { return os::open_log_file(path_, way_.open); }

  /// Puts `fresh` in the place of the current file and looks at where it ends.
  void replace_file(os::descriptor fresh) noexcept;

  std::uint64_t next_offset() const noexcept override { return end_bytes_; }
  void at_line_end() noexcept override;

  const sink_config& settings() const noexcept { return settings_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  int fd() const noexcept { return file_.get(); }
  bool regular() const noexcept { return regular_; }

  /// For retire().
  os::descriptor take_file() noexcept { return std::move(file_); }

  std::uint64_t end_bytes_ = 0;  ///< where the next byte goes, as far as this sink knows: others may append to a file of `write`

 private:
  outcome open_anew() noexcept;
  bool path_leads_elsewhere() const noexcept;

  sink_config settings_;
  std::filesystem::path path_;  ///< absolute, so that it means the same after chdir(2)
  how way_;
  os::descriptor file_{};
  dev_t device_ = 0;
  ino_t inode_ = 0;
  bool regular_ = false;
  bool reopen_wanted_ = false;
  int reopen_error_ = 0;  ///< the errno that maintain() has told last, so that one trouble is told once
};

/// The sink that takes single lines after stop(): one write(2) for each, on any thread, without dying of SIGPIPE or SIGXFSZ.
struct line_sink_parts {
  os::descriptor owned{};  ///< appends; invalid: `borrowed_fd` is used and stays open
  int borrowed_fd = -1;
  std::string kind{};
  os::batch_buffer memory{};
  bool mid_line = false;  ///< the destination ends inside a line
};
std::unique_ptr<sink> make_line_sink(line_sink_parts parts) noexcept;

}  // namespace penstock::sinks
