// SPDX-License-Identifier: MIT
// The folder that a run works in, and the promise that nothing of it is left behind: not at the end, not after an error, not after Ctrl-C.
#pragma once

#include <filesystem>

namespace penstock::bench {

/// True once SIGINT, SIGTERM or SIGHUP came while an interrupt_watch lived. The running pass is finished, then the run stops in order; a
/// second signal removes the files and ends the process at once.
bool interrupted() noexcept;

/// Watches the signals for a scope; restores the former actions afterwards.
///
/// Thread: one at a time, made and destroyed by the main thread.
class interrupt_watch {
 public:
  interrupt_watch();
  ~interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;
};

/// A new folder inside `parent`, removed with everything in it.
///
/// Errors: std::system_error naming `parent`.
class scratch_folder {
 public:
  explicit scratch_folder(const std::filesystem::path& parent);
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path target() const { return path_ / "target.log"; }
  std::filesystem::path source() const { return path_ / "source.dat"; }

 private:
  std::filesystem::path path_;
};

/// Throws if the file system of `dir` has less than `bytes` free; the text says how much there is.
void require_space(const std::filesystem::path& dir, std::uintmax_t bytes, const char* what_for);

}  // namespace penstock::bench
