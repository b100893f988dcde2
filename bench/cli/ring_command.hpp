// SPDX-License-Identifier: MIT
// `penstock ring cat|info|follow FILE`: reads the file of an mmap_ring sink. It never writes to the file, so that it may be used on one
// whose writer lives.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>

namespace CLI {
class App;
}

namespace penstock::cli {

struct ring_call {
  enum class action { cat, info, follow };
  action what = action::cat;
  std::filesystem::path file{};
  /// follow only: how many of the lines that are there are shown first; unset: all.
  std::optional<std::size_t> lines = 10;
};

/// Does it; lines and facts go to `out_fd`, all else to standard error. Gives the exit status: 0 done, 1 the work failed.
///
/// follow ends only by an error, or once `*stop` is true.
int run_ring_command(const ring_call& call, int out_fd, const std::atomic<bool>* stop = nullptr);

void add_ring_command(CLI::App& app, int& exit_status);

}  // namespace penstock::cli
