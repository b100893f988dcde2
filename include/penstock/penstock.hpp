// SPDX-License-Identifier: MIT
// What main() includes: start, flush, sync, stop, statistics, and everything a file that logs needs.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <penstock/base/error.hpp>
#include <penstock/base/export.hpp>
#include <penstock/config.hpp>
#include <penstock/log.hpp>
#include <penstock/sink.hpp>
#include <penstock/stats.hpp>

namespace penstock {

/// Waits for as long as it takes.
inline constexpr std::chrono::nanoseconds forever = std::chrono::nanoseconds::max();

/// Starts the default configuration: console, level info.
///
/// Thread: any. The first record starts the library by itself if nothing else did: with the file that the environment variable
///         PENSTOCK_CONFIG names, or with the defaults. start() after such an implicit start replaces the configuration.
/// Errors: config_error if it runs already after an explicit start(); nothing has changed then.
PENSTOCK_EXPORT void start();

/// Opens the sinks and starts the backend thread. Relative paths are resolved against the working folder now.
///
/// Errors: config_error; std::system_error whose text names the path and the remedy. Nothing runs then, and a later start() may work.
PENSTOCK_EXPORT void start(const config& settings);

/// load_config() and start(). Example: examples/config_file.cpp.
PENSTOCK_EXPORT void start(const std::filesystem::path& file);

/// Waits until every record logged before the call, by any thread, is with the kernel. False: not by the deadline, or a sink has lost some.
///
/// A loss, whenever it happened, is told by the next flush(), sync() or stop(), and to all that wait at that time: stats() keeps the count.
/// Thread: any; on the backend's own thread (a sink, a formatter, an error handler) false at once.
PENSTOCK_EXPORT bool flush(std::chrono::nanoseconds timeout = forever);

/// The same, and on the medium (fdatasync or its like).
PENSTOCK_EXPORT bool sync(std::chrono::nanoseconds timeout = forever);

/// Opens every sink's destination anew by its path, for logrotate. False: one of them could not be; it goes on with the old file.
PENSTOCK_EXPORT bool reopen(std::chrono::nanoseconds timeout = forever);

/// Drains, closes the sinks, joins the backend thread. Runs at exit by itself; idempotent. Later records are written by their own thread.
///
/// False: a sink has lost records that no flush() has told of; or not done by the deadline, then the backend thread is left behind, and
/// what it still holds is said on standard error.
PENSTOCK_EXPORT bool stop(std::chrono::nanoseconds timeout = forever);

/// What became of every record. While records move, a snapshot may be a few records old; `queued` is never negative.
PENSTOCK_EXPORT stats_snapshot stats();

/// The same in the Prometheus text format. Example: examples/statistics.cpp.
PENSTOCK_EXPORT std::string prometheus_text();

/// Sets who hears of trouble. Null: one line on standard error.
///
/// Thread: called on the backend thread, at most once a second for each sink; for what start() finds (a sink or a clock that is replaced by
///         another), on the thread that starts, before start() returns. In both places flush(), sync() and stop() return false at once.
PENSTOCK_EXPORT void on_error(void (*handler)(const error_report&) noexcept);

}  // namespace penstock
