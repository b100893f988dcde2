// SPDX-License-Identifier: MIT
// The configuration: one member for each key of the config file, with the same name and the same default. Reading TOML is kept apart
// (load_config), so that a program that fills this in by hand never runs the parser.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <penstock/base/error.hpp>
#include <penstock/base/export.hpp>
#include <penstock/base/level.hpp>

namespace penstock {

/// Which thread turns arguments into text. `automatic` is "auto" in the file: arguments while the backend keeps up, text when it does not.
enum class format_mode : std::uint8_t { caller, backend, automatic };
/// What a call does when the memory budget is spent.
enum class overflow_policy : std::uint8_t { block, drop };
/// How the backend waits while some thread logged recently.
enum class idle_policy : std::uint8_t { sleep, yield, spin };
/// Where record times come from.
enum class clock_source : std::uint8_t { tsc, system };
/// What becomes of the page cache behind a file sink: kept, dropped by RWF_DONTCACHE, or bypassed by O_DIRECT.
enum class page_cache_policy : std::uint8_t { keep, drop, direct };
/// What becomes of newlines and control characters in messages.
enum class control_chars_policy : std::uint8_t { escape, raw };
/// When a file is rotated by the civil calendar.
enum class rotate_period : std::uint8_t { never, hour, day, week };
/// How closed files are compressed.
enum class compression : std::uint8_t { none, zstd };

struct backend_config {
  format_mode format = format_mode::automatic;
  std::size_t memory = std::size_t{64} << 20;  ///< bytes for all records on their way; at least 1 MiB
  overflow_policy overflow = overflow_policy::block;
  std::chrono::nanoseconds block_timeout{0};  ///< 0: as long as it takes
  level keep_level = level::warning;          ///< with `drop`: records at or above it wait instead
  idle_policy idle = idle_policy::sleep;
  std::chrono::nanoseconds reorder_window{5'000};
  clock_source clock = clock_source::tsc;
  int cpu = -1;  ///< -1: not pinned
  bool crash_handler = false;
  std::filesystem::path rescue_file{};

  friend bool operator==(const backend_config&, const backend_config&) = default;
};

/// When a sink makes its data durable. Neither: never of its own accord. The interval counts only while `each_batch` is false.
struct sync_policy {
  bool each_batch = false;
  std::chrono::nanoseconds interval{0};  ///< 0: off

  friend bool operator==(const sync_policy&, const sync_policy&) = default;
};

struct rotate_config {
  std::uint64_t size = 0;  ///< bytes; 0: not by size
  rotate_period every = rotate_period::never;
  std::size_t keep = 0;                 ///< closed files kept; 0: all
  std::chrono::nanoseconds max_age{0};  ///< 0: any age
  std::uint64_t max_total = 0;          ///< bytes of closed files; 0: any
  compression compress = compression::none;

  bool enabled() const noexcept { return size != 0 || every != rotate_period::never; }
  friend bool operator==(const rotate_config&, const rotate_config&) = default;
};

struct sink_config {
  std::string type = "write";  ///< write, pwrite, mmap_ring, io_uring, stdio, console, null, or a registered type
  std::filesystem::path path{};
  std::optional<std::size_t> batch_size{};  ///< bytes, whole pages; unset: the sink's own best, see effective_batch_bytes()
  std::chrono::nanoseconds flush_interval{20'000'000};
  level flush_level = level::error;
  sync_policy sync{};
  page_cache_policy page_cache = page_cache_policy::keep;
  std::string pattern = "{time} {level:<8} [{thread}] {logger}: {message}";
  control_chars_policy control_chars = control_chars_policy::escape;
  std::size_t size = std::size_t{64} << 20;  ///< mmap_ring only: bytes of the file
  unsigned queue_depth = 4;                  ///< io_uring only: batches in all, the one being filled included
  rotate_config rotate{};
  bool reopen = true;
  unsigned mode = 0640;
  bool follow_symlinks = false;
  bool create_folders = false;
  bool strict = false;  ///< io_uring only: refuse to start instead of falling back
  std::string failover{};

  friend bool operator==(const sink_config&, const sink_config&) = default;
};

struct logger_config {
  std::optional<penstock::level> level{};           ///< unset: the parent's
  std::optional<std::vector<std::string>> sinks{};  ///< unset: the parent's

  friend bool operator==(const logger_config&, const logger_config&) = default;
};

/// Everything start() needs. A plain value: copy it, compare it, fill it in by designated initialisers.
struct config {
  backend_config backend{};
  std::map<std::string, sink_config, std::less<>> sinks{};
  std::map<std::string, logger_config, std::less<>> loggers{};  ///< by full dotted name; "root" is the top

  friend bool operator==(const config&, const config&) = default;
};

/// The batch size in bytes that a sink gets: `batch_size`, or the best for its type and page-cache policy (docs/sinks.md).
PENSTOCK_EXPORT std::size_t effective_batch_bytes(const sink_config& sink) noexcept;

/// Reads a config file.
///
/// Errors: config_error, whose text is "file:line:column: what is wrong, and the remedy".
PENSTOCK_EXPORT config load_config(const std::filesystem::path& file);

/// Reads a configuration from text; `source_name` stands for the file in messages.
PENSTOCK_EXPORT config parse_config(std::string_view toml, std::string_view source_name);

/// Checks what start() would refuse, for a configuration that was filled in by hand: the same rules as for a file.
///
/// Errors: config_error, whose text names the key ("sinks.app.batch_size: …").
PENSTOCK_EXPORT void validate(const config& settings);

}  // namespace penstock
