// SPDX-License-Identifier: MIT
// The one table of keys of the config file. Reading, checking, `penstock config --defaults` and `--explain`, and docs/config.md all follow
// it; the defaults are the initialisers in penstock/config.hpp. A new key needs a member there and an entry in key_table.cpp, nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <penstock/config.hpp>

namespace penstock::detail {

/// The table that a key stands in: [backend], [sinks.NAME], its `rotate`, [loggers.NAME].
enum class section : std::uint8_t { backend, sink, rotate, logger };

/// What a value looks like in the file.
enum class value_kind : std::uint8_t {
  boolean,
  integer,
  size,      ///< "256 KiB"
  duration,  ///< "20 ms"
  text,
  path,
  choice,  ///< one of `choices`, as text
  sync,    ///< "none", "batch" or a duration
  mode,    ///< "0640"
  names,   ///< an array of texts
};

/// A value of any kind. Sizes, integers, modes and the index of a choice are std::int64_t; nothing: not set.
using value =
    std::variant<std::monostate, bool, std::int64_t, std::chrono::nanoseconds, std::string, sync_policy, std::vector<std::string>>;

/// The structure that has the member, by section.
using owner = std::variant<backend_config*, sink_config*, rotate_config*, logger_config*>;
using const_owner = std::variant<const backend_config*, const sink_config*, const rotate_config*, const logger_config*>;

/// A set of sink types, one bit each.
using sink_types = std::uint8_t;
inline constexpr sink_types type_write = 1, type_pwrite = 2, type_mmap_ring = 4, type_io_uring = 8, type_stdio = 16, type_console = 32,
                            type_null = 64, type_registered = 128;
inline constexpr sink_types types_all = 255;
/// The types that write a file, or may: registered ones decide for themselves.
inline constexpr sink_types types_file = type_write | type_pwrite | type_mmap_ring | type_io_uring | type_stdio | type_registered;
/// The types that may have a path: a console may be a terminal or a pipe of its own.
inline constexpr sink_types types_path = types_file | type_console;

/// The built-in types, in the order of their bits.
std::span<const std::string_view> built_in_types() noexcept;
/// The bit of a type's name; a name that is not built in counts as registered.
sink_types bit_of_type(std::string_view type) noexcept;
/// "write, pwrite, io_uring"; the registered types are left out.
std::string types_text(sink_types types);

struct key {
  section in;
  std::string_view name;
  value_kind kind;
  /// The range in bytes, nanoseconds or plain numbers; without meaning for the other kinds.
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::span<const std::string_view> choices{};
  sink_types types = types_all;  ///< sinks and their rotate only
  bool built = true;             ///< false: only the default is accepted so far
  std::string_view doc{};        ///< what it does, a sentence without its full stop
  value (*read)(const_owner) = nullptr;
  void (*write)(owner, const value&) = nullptr;
};

/// Every key, grouped by section.
std::span<const key> key_table() noexcept;
/// A section's key by its name, or nullptr.
const key* find_key(section in, std::string_view name) noexcept;
/// The names of a section's keys.
std::vector<std::string_view> key_names(section in);
/// The value that a key has when the file does not mention it.
value default_of(const key& k);
/// The names of the levels, "trace" to "off".
std::span<const std::string_view> level_names() noexcept;

}  // namespace penstock::detail
