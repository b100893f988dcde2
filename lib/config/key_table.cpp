// SPDX-License-Identifier: MIT
#include "lib/config/key_table.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "lib/config/key_access.hpp"
#include "lib/config/units.hpp"

namespace penstock::detail {
namespace {

constexpr std::array<std::string_view, 7> levels{name_of(level::trace),   name_of(level::debug), name_of(level::info),
                                                 name_of(level::warning), name_of(level::error), name_of(level::critical),
                                                 name_of(level::off)};
constexpr std::array<std::string_view, 7> types{"write", "pwrite", "mmap_ring", "io_uring", "stdio", "console", "null"};

// Each in the order of its enumeration in penstock/config.hpp.
constexpr std::array<std::string_view, 3> formats{"caller", "backend", "auto"};
constexpr std::array<std::string_view, 2> overflows{"block", "drop"};
constexpr std::array<std::string_view, 3> idles{"sleep", "yield", "spin"};
constexpr std::array<std::string_view, 2> clocks{"tsc", "system"};
constexpr std::array<std::string_view, 3> page_caches{"keep", "drop", "direct"};
constexpr std::array<std::string_view, 2> control_chars{"escape", "raw"};
constexpr std::array<std::string_view, 4> periods{"never", "hour", "day", "week"};
constexpr std::array<std::string_view, 2> compressions{"none", "zstd"};

constexpr std::int64_t kib = 1 << 10, mib = kib << 10, gib = mib << 10, tib = gib << 10;
constexpr std::int64_t us = 1'000, ms = 1'000 * us, seconds = 1'000 * ms, hours = 3'600 * seconds, days = 24 * hours;
constexpr sink_types types_rotate = type_write | type_pwrite | type_io_uring | type_stdio | type_registered;
// A sink by its descriptor chooses how the page cache behind it is treated; stdio and a mapping cannot.
constexpr sink_types types_page_cache = type_write | type_pwrite | type_io_uring | type_registered;

// `built = false`: not built yet; say `true` once it is.
constexpr bool crash_handler_is_built = false;
constexpr bool rescue_file_is_built = false;
constexpr bool failover_is_built = false;
constexpr bool rotate_is_built = true;

struct limits {
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::span<const std::string_view> choices{};
  sink_types types = types_all;
  bool built = true;
};

template <class Owner, class T>
constexpr section section_of(T Owner::*) {
  if constexpr (std::is_same_v<Owner, backend_config>) return section::backend;
  if constexpr (std::is_same_v<Owner, sink_config>) return section::sink;
  if constexpr (std::is_same_v<Owner, rotate_config>) return section::rotate;
  return section::logger;
}

template <auto member>
constexpr key entry(std::string_view name, value_kind kind, limits bounds, std::string_view doc) {
  return {section_of(member),    name,         kind,         bounds.low, bounds.high,
          bounds.choices,        bounds.types, bounds.built, doc,        &access<member>::read,
          &access<member>::write};
}

using backend = backend_config;
using sink = sink_config;
using rotate = rotate_config;
using logger = logger_config;

constexpr key table[] = {
    entry<&backend::format>("format", value_kind::choice, {.choices = formats},
                            "Which thread turns arguments into text: the caller, the backend, or whichever the load suggests"),
    entry<&backend::memory>("memory", value_kind::size, {.low = mib, .high = 64 * gib},
                            "One budget for all records on their way, whatever the number of threads"),
    entry<&backend::overflow>("overflow", value_kind::choice, {.choices = overflows},
                              "What a call does when the budget is spent: wait, or drop the record and count it"),
    entry<&backend::block_timeout>("block_timeout", value_kind::duration, {.high = days},
                                   "With block: 0 waits as long as it takes; otherwise the record is dropped after that long, and counted"),
    entry<&backend::keep_level>("keep_level", value_kind::choice, {.choices = levels},
                                "With drop: records at or above this level wait instead"),
    entry<&backend::idle>("idle", value_kind::choice, {.choices = idles}, "How the backend waits while some thread logged recently"),
    entry<&backend::reorder_window>("reorder_window", value_kind::duration, {.high = seconds},
                                    "Records of different threads are put in time order within this window"),
    entry<&backend::clock>("clock", value_kind::choice, {.choices = clocks},
                           "Where record times come from: the processor's counter, or the system's clock"),
    // 1023 is the last processor that a cpu_set_t can name.
    entry<&backend::cpu>("cpu", value_kind::integer, {.low = -1, .high = 1023},
                         "The processor that the backend thread is pinned to; -1: any"),
    entry<&backend::crash_handler>("crash_handler", value_kind::boolean, {.built = crash_handler_is_built},
                                   "Drain on SIGSEGV, SIGABRT and the like; the core and the exit status stay as they would be"),
    entry<&backend::rescue_file>(
        "rescue_file", value_kind::path, {.built = rescue_file_is_built},
        "Where records survive kill -9: empty is off, a bare name is in shared memory, a path is there; forces format caller"),

    entry<&sink::type>("type", value_kind::text, {.choices = types},
                       "What kind of sink this is: one of these, or a type that the program registers; required"),
    entry<&sink::path>("path", value_kind::path, {.types = types_path},
                       "The file, relative to the working folder at start(); required, but a console without one is standard error"),
    entry<&sink::batch_size>("batch_size", value_kind::size, {.low = 4 * kib, .high = 64 * mib},
                             "Bytes handed over at once, in whole pages and no more than backend.memory"),
    entry<&sink::flush_interval>("flush_interval", value_kind::duration, {.low = ms, .high = hours},
                                 "No line waits longer than this for its batch to fill"),
    entry<&sink::flush_level>("flush_level", value_kind::choice, {.choices = levels},
                              "A record at or above this level is handed over at once"),
    entry<&sink::sync>("sync", value_kind::sync, {.low = ms, .high = days, .types = types_file},
                       "When data is made durable: never of its own accord, batch by batch, or every so often"),
    entry<&sink::page_cache>("page_cache", value_kind::choice, {.choices = page_caches, .types = types_page_cache},
                             "The page cache behind the file: keep, drop (RWF_DONTCACHE), or direct (O_DIRECT; not for write)"),
    entry<&sink::pattern>("pattern", value_kind::text, {}, "How a line is laid out"),
    entry<&sink::control_chars>("control_chars", value_kind::choice, {.choices = control_chars},
                                "What becomes of newlines and control characters in messages"),
    entry<&sink::size>("size", value_kind::size, {.low = 64 * kib, .high = tib, .types = type_mmap_ring},
                       "The fixed size of the ring file, in whole pages: one for its head, and room for four batches or more"),
    entry<&sink::queue_depth>("queue_depth", value_kind::integer, {.low = 2, .high = 64, .types = type_io_uring},
                              "Batches in all, the one being filled included"),
    entry<&sink::reopen>("reopen", value_kind::boolean, {.types = types_file},
                         "Notice that the file was moved or deleted (logrotate) and open a new one"),
    entry<&sink::mode>("mode", value_kind::mode, {.high = 0777, .types = types_file},
                       "Permissions of files that are made; the umask applies"),
    entry<&sink::follow_symlinks>("follow_symlinks", value_kind::boolean, {.types = types_path},
                                  "Follow a symbolic link as the last component of path"),
    entry<&sink::create_folders>("create_folders", value_kind::boolean, {.types = types_file}, "Make the folders of path that are missing"),
    entry<&sink::strict>("strict", value_kind::boolean, {.types = type_io_uring},
                         "Refuse to start where the kernel refuses io_uring, instead of using pwrite"),
    entry<&sink::failover>("failover", value_kind::text, {.built = failover_is_built},
                           "The sink that takes over when this one is disabled; empty: none"),

    entry<&rotate::size>("size", value_kind::size, {.high = tib, .types = types_rotate, .built = rotate_is_built},
                         "A file that would grow beyond this is closed and a new one begun; 0: not by size"),
    entry<&rotate::every>("every", value_kind::choice, {.choices = periods, .types = types_rotate, .built = rotate_is_built},
                          "A new file at each turn of the local hour, day or week"),
    entry<&rotate::keep>("keep", value_kind::integer, {.high = 1'000'000, .types = types_rotate, .built = rotate_is_built},
                         "How many closed files are kept; 0: all"),
    entry<&rotate::max_age>("max_age", value_kind::duration, {.high = 36'500 * days, .types = types_rotate, .built = rotate_is_built},
                            "Closed files older than this are removed; 0: any age"),
    entry<&rotate::max_total>("max_total", value_kind::size, {.high = 1024 * tib, .types = types_rotate, .built = rotate_is_built},
                              "The oldest closed files are removed beyond this many bytes of them; 0: any"),
    entry<&rotate::compress>("compress", value_kind::choice, {.choices = compressions, .types = types_rotate, .built = rotate_is_built},
                             "How closed files are compressed"),

    entry<&logger::level>("level", value_kind::choice, {.choices = levels},
                          "Records below this level are not made; without it, the parent's (root: info)"),
    entry<&logger::sinks>("sinks", value_kind::names, {},
                          "The sinks that get the records, and no others; without it, the parent's (root: all)"),
};

}  // namespace

std::span<const std::string_view> built_in_types() noexcept { return types; }

sink_types bit_of_type(std::string_view type) noexcept {
  const auto* const found = std::find(types.begin(), types.end(), type);
  return found == types.end() ? type_registered : static_cast<sink_types>(1U << (found - types.begin()));
}

std::string types_text(sink_types wanted) {
  std::vector<std::string_view> names;
  std::copy_if(types.begin(), types.end(), std::back_inserter(names),
               [&](std::string_view type) { return (bit_of_type(type) & wanted) != 0; });
  return list_text(names);
}

std::span<const key> key_table() noexcept { return table; }

const key* find_key(section in, std::string_view name) noexcept {
  const auto* const found = std::find_if(std::begin(table), std::end(table), [&](const key& k) { return k.in == in && k.name == name; });
  return found == std::end(table) ? nullptr : found;
}

std::vector<std::string_view> key_names(section in) {
  std::vector<std::string_view> names;
  for (const key& k : table)
    if (k.in == in) names.push_back(k.name);
  return names;
}

value default_of(const key& k) {
  static const backend_config no_backend{};
  static const sink_config no_sink{};
  static const rotate_config no_rotate{};
  static const logger_config no_logger{};
  switch (k.in) {
    case section::backend:
      return k.read(&no_backend);
    case section::sink:
      return k.read(&no_sink);
    case section::rotate:
      return k.read(&no_rotate);
    case section::logger:
      return k.read(&no_logger);
  }
  return {};
}

std::span<const std::string_view> level_names() noexcept { return levels; }

}  // namespace penstock::detail
