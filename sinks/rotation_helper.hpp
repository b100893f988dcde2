// SPDX-License-Identifier: MIT
// What is done with closed log files, on a thread of its own, so that no removal of a big file and no compression holds up the backend:
// keep, max_age and max_total, and zstd. One thread for all sinks, which lives while there is one that rotates.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <penstock/config.hpp>

#include "lib/os/thread.hpp"

namespace penstock::sinks {

/// The closed files of one log. Made by the sink, shared with the helper.
struct closed_files {
  std::filesystem::path folder{};
  std::string base{};  ///< file name of the live file
  rotate_config rules{};

  std::atomic<int> os_error{0};  ///< of what failed last, until the sink has told it

  // Guarded by the helper's mutex.
  bool wanted = true;                                  ///< something was closed, or grew old
  std::chrono::steady_clock::time_point rest_until{};  ///< before that, what was closed waits
  bool compress = true;                                ///< there may be files that are not compressed
  bool leaving = false;                                ///< the sink ends
  bool finished = false;                               ///< nothing more is done
  std::chrono::steady_clock::time_point leave_by{};
};

class rotation_helper {
 public:
  /// Begins to look after the files; starts the thread if it is the first.
  ///
  /// Errors: std::system_error if no thread can be made.
  static void add(std::shared_ptr<closed_files> files);

  /// Something was closed. Never waits for work on files.
  static void look(closed_files& files) noexcept;

  /// Does what is due, except that a compression that takes longer than a second is left to the next run; the last one ends the thread.
  static void remove(const std::shared_ptr<closed_files>& files) noexcept;

 private:
  struct state;
  static state& current() noexcept;
};

/// Removes a file that is empty and that nobody has locked: a reserved name that was not used. The lock keeps a `write` sink of another
/// process from beginning in it meanwhile.
bool remove_unused(const std::filesystem::path& file) noexcept;

/// Removes what a killed process left: compressions that were not finished, names that were reserved and not used. `shared`: another
/// process may have reserved one just now; then only old ones are removed.
///
/// Errors: as of list_closed_files().
void remove_traces(const closed_files& files, bool shared);

/// Removes what keep, max_age and max_total do not leave. Returns an errno, or 0.
int apply_retention(const closed_files& files, std::chrono::system_clock::time_point now);

enum class compressed : std::uint8_t { one, none_left, locked, failed, interrupted };

/// Compresses the oldest file that is not yet. `os_error` is set with `failed`. Returns early, and undone, once `give_up` says so.
compressed compress_one(const closed_files& files, bool (*give_up)(void* context), void* context, int& os_error);

}  // namespace penstock::sinks
