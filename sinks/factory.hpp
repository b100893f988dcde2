// SPDX-License-Identifier: MIT
// The built-in sinks, each behind its factory. No sink has a header of its own.
#pragma once

#include <memory>
#include <string_view>

#include <penstock/config.hpp>
#include <penstock/sink.hpp>

namespace penstock::sinks {

std::unique_ptr<sink> make_write_sink(const sink_config& settings);
std::unique_ptr<sink> make_pwrite_sink(const sink_config& settings);
std::unique_ptr<sink> make_mmap_ring_sink(const sink_config& settings);
/// Falls back to pwrite where the kernel refuses io_uring, unless `strict`; describe().fallback says why.
std::unique_ptr<sink> make_io_uring_sink(const sink_config& settings);
std::unique_ptr<sink> make_stdio_sink(const sink_config& settings);
std::unique_ptr<sink> make_console_sink(const sink_config& settings);
std::unique_ptr<sink> make_null_sink(const sink_config& settings);

/// True if the layout for a console on `fd` may use colour: it is a terminal that knows it, and nobody set NO_COLOR. The console sink
/// itself writes lines as they are; without a path it writes to standard error (2). Source: no-color.org.
bool console_wants_colour(int fd) noexcept;

/// Makes the sink that `settings.type` names: a built-in or a registered one.
///
/// Errors: config_error for an unknown type; what the sink's factory throws.
std::unique_ptr<sink> make_sink(const sink_config& settings);

/// The names of the built-in types, then the registered ones.
bool known_sink_type(std::string_view type) noexcept;

}  // namespace penstock::sinks
