// SPDX-License-Identifier: MIT
// What rotation asks of a sink beside what every sink can do: to go on in a file that is open already. To open it by its path, as reopen()
// does, takes a dozen system calls more, each time.
#pragma once

#include <penstock/base/error.hpp>

#include "lib/os/file.hpp"

namespace penstock::sinks {

class next_file_taker {
 public:
  /// How the file has to be opened and locked.
  virtual const os::open_options& next_file_options() const noexcept = 0;

  /// Goes on in `fresh`, which is empty, open for this sink alone, and what its path leads to.
  ///
  /// Errors: errc::pending: not now, since half a line or something else is still for the old file; errc::io. The old file stays in use,
  ///         and `fresh` is closed.
  virtual outcome take_next_file(os::descriptor fresh) noexcept = 0;

 protected:
  ~next_file_taker() = default;
};

}  // namespace penstock::sinks
