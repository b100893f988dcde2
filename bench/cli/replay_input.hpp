// SPDX-License-Identifier: MIT
// The log files that are replayed. A large file is mapped, a small one or a pipe is read into memory. A mapped file may be truncated by its
// writer meanwhile: what is read then is zero bytes, and truncated() says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "lib/os/sigbus_guard.hpp"

namespace penstock::cli {

class log_file {
 public:
  /// Opens, maps or reads, and counts the lines; afterwards the content is in memory or in the page cache.
  ///
  /// Errors: config_error naming the file, if it is missing, a folder, or cannot be read: the call is wrong.
  explicit log_file(std::filesystem::path path);
  ~log_file();
  log_file(const log_file&) = delete;
  log_file& operator=(const log_file&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::string_view text() const noexcept { return text_; }
  std::uint64_t line_count() const noexcept { return line_count_; }
  /// Bytes of all lines, each with a newline; a last line without one gets it.
  std::uint64_t line_bytes() const noexcept { return text_.size() + (newline_missing_ ? 1 : 0); }
  std::size_t longest_line_bytes() const noexcept { return longest_line_bytes_; }
  bool newline_missing() const noexcept { return newline_missing_; }
  bool truncated() const noexcept { return guard_ && guard_->hit(); }

 private:
  void map(int fd, std::size_t bytes);
  void read(int fd);
  void count();

  std::filesystem::path path_;
  std::string read_{};
  std::span<std::byte> mapped_{};
  std::optional<os::sigbus_guard> guard_{};
  std::string_view text_{};
  std::uint64_t line_count_ = 0;
  std::size_t longest_line_bytes_ = 0;
  bool newline_missing_ = false;
};

/// Takes the next line off `rest`, without its newline. `rest` must not be empty.
inline std::string_view take_line(std::string_view& rest) noexcept {
  const std::size_t end = rest.find('\n');
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

/// A line as a message can show it: in quotes, cut, control characters as \xNN.
std::string shown(std::string_view line);

}  // namespace penstock::cli
