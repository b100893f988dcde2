// SPDX-License-Identifier: MIT
// The names of closed log files: PATH.20261201T021317Z-0000, and the same with .zst. The time is UTC, since local time runs twice through
// the hour in which summer time ends; the index has a fixed width. So the names sort as the files were closed, compressed or not. Only
// names of exactly this form are ever touched.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::sinks {

struct rotated_name {
  std::int64_t second = 0;  ///< since 1970, UTC
  unsigned index = 0;       ///< among the names of one second

  friend auto operator<=>(const rotated_name&, const rotated_name&) = default;

  /// The first name that sorts behind this one and is not before `now`.
  rotated_name next(std::chrono::system_clock::time_point now) const noexcept;
  /// The name behind `base`: ".20261201T021317Z-0000".
  std::string suffix() const;
};

/// What the name of a file in the log's folder says.
struct parsed_name {
  enum class form : std::uint8_t { plain, compressed, unfinished };

  rotated_name name{};
  form is = form::plain;  ///< `unfinished`: what an interrupted compression left
};

inline constexpr std::string_view compressed_suffix = ".zst";
inline constexpr std::string_view unfinished_suffix = ".zst.tmp";

/// Nothing: it is not a name of this log. `base` is the file name of the live file.
std::optional<parsed_name> parse_rotated_name(std::string_view base, std::string_view file) noexcept;

struct closed_file {
  parsed_name parsed{};
  std::uint64_t bytes = 0;
  std::string file{};  ///< its name in the folder
};

/// The closed files of a log, the oldest first. Regular files only: links and folders with such names are not ours.
///
/// Errors: std::filesystem::filesystem_error, std::bad_alloc.
std::vector<closed_file> list_closed_files(const std::filesystem::path& folder, std::string_view base);

}  // namespace penstock::sinks
