// SPDX-License-Identifier: MIT
// Opens a ring's file and takes its lock; makes it, with all its blocks, if it is not there.
#pragma once

#include <cstdint>
#include <filesystem>

#include <penstock/config.hpp>

#include "lib/os/file.hpp"
#include "sinks/ring_format.hpp"

namespace penstock::sinks {

/// Refuses a size that no ring can have.
///
/// Errors: config_error.
void check_ring_size(const sink_config& settings);

/// An open, locked file of the right size with a valid header.
struct opened_ring {
  os::descriptor file{};
  bool is_new = false;  ///< its data area was never written

  /// What there was before: nothing, or an empty file.
  bool made_here = false;
  std::filesystem::path path{};

  /// Takes back what opening made, after a failure. An existing ring is left alone.
  void undo() const noexcept;
};

/// Errors: config_error if the file is no ring, or one of another size or version; std::system_error if it cannot be opened, is written by
///         another process, or its blocks cannot be allocated. Nothing that was made stays behind.
opened_ring open_ring_file(const sink_config& settings);

}  // namespace penstock::sinks
