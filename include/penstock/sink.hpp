// SPDX-License-Identifier: MIT
// A sink lends the memory that the backend fills, and takes it back to bring it to its destination. It knows nothing of records, threads or
// the backend. User sinks derive from `sink` too; register_sink_type() gives them a name for the config file.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <penstock/base/error.hpp>
#include <penstock/base/export.hpp>
#include <penstock/config.hpp>

namespace penstock {

/// Where a batch may end. `pages`: the backend fills the room to its last byte and the line goes on in the next batch. `lines`: after a
/// whole line; only a line longer than a whole empty room is divided.
enum class cut : std::uint8_t { pages, lines };

/// Memory to fill from room[0] on. Empty room: none is free now (an error is held, or everything is in flight).
struct batch {
  std::span<std::byte> room{};
  cut end = cut::pages;
  /// Lines from this time on do not belong here: the backend hands over what is there, and asks again.
  std::chrono::system_clock::time_point until = std::chrono::system_clock::time_point::max();
};

/// What the backend is about to write, for sinks that divide by size or time.
struct lend_request {
  std::size_t line_bytes = 0;  ///< bytes of the next line, 0 if not known
  std::chrono::system_clock::time_point line_time{};
};

/// What a sink says of itself, for reports and stats.
struct sink_description {
  std::string kind{};      ///< the type really used: "write", "io_uring", …
  std::string fallback{};  ///< why it is not the type that was asked for; empty: it is
  std::string note{};      ///< what it does without although it is that type (registered memory); empty: nothing
};

/// A destination of batches.
///
/// Owner:  one owner at a time uses it: the backend thread, the sink's writer thread, or a caller under the engine's lock after stop().
/// Thread: never called concurrently. All signals are masked on the threads that call it.
/// Errors: no operation throws.
class PENSTOCK_EXPORT sink {
 public:
  sink() = default;
  sink(const sink&) = delete;
  sink& operator=(const sink&) = delete;
  virtual ~sink() = default;

  /// Lends room for the next lines; never waits. The same room again if nothing was submitted since.
  virtual batch lend(lend_request request) noexcept = 0;

  /// Takes back the lent room, whose first `used_bytes` bytes are filled; 0 gives it back unused.
  ///
  /// Errors: errc::no_space, errc::io, errc::closed. The sink holds what was not written, and lend() gives empty room, until resume()
  ///         succeeds or abandon() gives it up. Earlier batches are not affected.
  virtual outcome submit(std::size_t used_bytes) noexcept = 0;

  /// After an error: tries what is held again, from the first byte that is not written.
  virtual outcome resume() noexcept = 0;

  /// Gives up what is held; returns the bytes that were not written. The sink lends again afterwards.
  virtual std::size_t abandon() noexcept = 0;

  /// Ok: everything submitted is with the kernel. errc::pending: not yet, ask again.
  virtual outcome flush() noexcept = 0;

  /// Ok: everything submitted is on the medium. errc::pending: not yet, ask again. errc::unsupported: the destination has no medium.
  virtual outcome sync() noexcept = 0;

  /// Opens the destination anew by its path (logrotate). On failure the old one stays in use.
  virtual outcome reopen() noexcept = 0;

  /// Bytes that were submitted without an error and are not yet known to be written; they are written in order.
  virtual std::uint64_t in_flight_bytes() const noexcept { return 0; }

  /// Cheap upkeep, called by the backend about once a second: has the file been moved, deleted or truncated?
  virtual outcome maintain() noexcept { return {}; }

  /// Called once at stop(), after the last flush: ends this sink and gives the small one that takes single lines after stop(); none: such
  /// lines are not for this sink.
  virtual std::unique_ptr<sink> retire() noexcept { return nullptr; }

  /// In a forked child: forgets the destination without touching it (no write, no unlink, no unlock), closing its descriptors only.
  virtual void disown_after_fork() noexcept {}

  virtual sink_description describe() const { return {}; }
};

/// Makes a sink from its configuration.
///
/// Errors: std::system_error or config_error, with a text that names the path and the remedy.
using sink_factory = std::function<std::unique_ptr<sink>(const sink_config&)>;

/// Gives a user sink a type name that the config file may use. Call it before start() and load_config(). Example: examples/user_sink.cpp.
///
/// Errors: config_error if the name is taken.
PENSTOCK_EXPORT void register_sink_type(std::string_view type, sink_factory factory);

}  // namespace penstock
