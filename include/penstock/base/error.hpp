// SPDX-License-Identifier: MIT
// How failures are told: set-up throws config_error or std::system_error, sinks return an outcome, nothing else lets an exception out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <penstock/base/export.hpp>

namespace penstock {

/// What went wrong in a sink, as far as it changes what the backend does about it.
enum class errc : std::uint8_t {
  ok,           ///< it is done
  pending,      ///< not done yet: ask again
  no_space,     ///< disk, quota or file size limit is full; the batch is held and tried again for as long as the policy waits
  io,           ///< the device or the file refused; tried again a few times, then the sink is disabled
  closed,       ///< nobody reads any more (EPIPE): the sink is disabled at once
  unsupported,  ///< the destination cannot do this at all (fsync of a pipe)
};

/// The result of a sink's operation. A value-initialised outcome is success.
struct [[nodiscard]] outcome {
  errc code = errc::ok;
  int os_error = 0;  ///< the errno behind `code`, or 0

  constexpr bool ok() const noexcept { return code == errc::ok; }
  friend constexpr bool operator==(const outcome&, const outcome&) = default;
};

/// A configuration that cannot be used. what() reads "file:line:column: what is wrong, and the remedy".
class PENSTOCK_EXPORT config_error : public std::runtime_error {
 public:
  explicit config_error(const std::string& text) : std::runtime_error(text) {}
};

/// What the error handler hears: a sink's trouble, or its end.
struct error_report {
  std::string_view sink;     ///< the sink's name in the configuration; empty: the library itself
  std::string_view message;  ///< one line, without a newline: what happened, to which path, what is done about it
  errc code = errc::ok;
  int os_error = 0;
  std::uint64_t lost_records = 0;  ///< records given up for this sink since the last report
};

}  // namespace penstock
