// SPDX-License-Identifier: MIT
// Named loggers in a dotted tree, and the macro-free API.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <penstock/base/export.hpp>
#include <penstock/base/level.hpp>
#include <penstock/detail/push.hpp>
#include <penstock/format_string.hpp>

namespace penstock {

/// A named place to log to; its name is part of a dotted tree ("net.http" below "net" below "root"). Lives for ever: keep the reference.
///
/// Thread: everything may be called by any thread at any time.
class PENSTOCK_EXPORT logger {
 public:
  /// Loggers are made by get(); this is for the library.
  constexpr logger(std::string_view name, std::uint32_t index) noexcept : name_(name), index_(index) {}
  logger(const logger&) = delete;
  logger& operator=(const logger&) = delete;

  std::string_view name() const noexcept { return name_; }
  level threshold() const noexcept { return threshold_.load(std::memory_order_relaxed); }
  bool enabled(level of_record) const noexcept { return of_record >= threshold(); }

  /// Takes effect at once, here and in children without a level of their own. Example: examples/levels_at_run_time.cpp.
  void set_level(level threshold) noexcept;

  template <class... A>
  void trace(format_string<A...> format, A&&... arguments) noexcept {
    log<level::trace>(format, arguments...);
  }
  template <class... A>
  void debug(format_string<A...> format, A&&... arguments) noexcept {
    log<level::debug>(format, arguments...);
  }
  template <class... A>
  void info(format_string<A...> format, A&&... arguments) noexcept {
    log<level::info>(format, arguments...);
  }
  template <class... A>
  void warning(format_string<A...> format, A&&... arguments) noexcept {
    log<level::warning>(format, arguments...);
  }
  template <class... A>
  void error(format_string<A...> format, A&&... arguments) noexcept {
    log<level::error>(format, arguments...);
  }
  template <class... A>
  void critical(format_string<A...> format, A&&... arguments) noexcept {
    log<level::critical>(format, arguments...);
  }

  /// For the library: the index that records carry.
  std::uint32_t index() const noexcept { return index_; }
  /// For the library: sets the threshold that is in force, without touching children.
  void put_threshold(level threshold) noexcept { threshold_.store(threshold, std::memory_order_relaxed); }

 private:
  template <level Level, class Format, class... A>
  void log(const Format& format, const A&... arguments) noexcept {
    if (enabled(Level)) detail::log_function<Level, A...>(index_, format.facts(), format.is_runtime(), arguments...);
  }

  std::string_view name_;
  std::uint32_t index_;
  // Everything passes until the library is started, since only then the configuration is known.
  std::atomic<level> threshold_{level::trace};
};

namespace detail {
extern PENSTOCK_EXPORT constinit logger root_logger;
}  // namespace detail

/// Finds or makes a logger. "root" (and "") is the default logger, parent of all.
///
/// Errors: std::bad_alloc only. A name is any text; dots make the tree.
PENSTOCK_EXPORT logger& get(std::string_view name);

template <class... A>
void trace(format_string<A...> format, A&&... arguments) noexcept {
  detail::root_logger.trace<A...>(format, static_cast<A&&>(arguments)...);
}
template <class... A>
void debug(format_string<A...> format, A&&... arguments) noexcept {
  detail::root_logger.debug<A...>(format, static_cast<A&&>(arguments)...);
}
template <class... A>
void info(format_string<A...> format, A&&... arguments) noexcept {
  detail::root_logger.info<A...>(format, static_cast<A&&>(arguments)...);
}
template <class... A>
void warning(format_string<A...> format, A&&... arguments) noexcept {
  detail::root_logger.warning<A...>(format, static_cast<A&&>(arguments)...);
}
template <class... A>
void error(format_string<A...> format, A&&... arguments) noexcept {
  detail::root_logger.error<A...>(format, static_cast<A&&>(arguments)...);
}
template <class... A>
void critical(format_string<A...> format, A&&... arguments) noexcept {
  detail::root_logger.critical<A...>(format, static_cast<A&&>(arguments)...);
}

}  // namespace penstock
