// SPDX-License-Identifier: MIT
#include "bench/suites/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace penstock::bench {

progress::progress(std::string title, double total_weight)
    : title_(std::move(title)), total_(total_weight), terminal_(::isatty(STDERR_FILENO) != 0) {}

progress::~progress() { clear(); }

void progress::show(std::string_view what) {
  if (!terminal_) return;
  const auto now = std::chrono::steady_clock::now();
  if (shown_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::string left = "estimating the time left";
  if (done_ > 0 && seconds > 0.5) {
    const double rest = seconds / done_ * (total_ - done_);
    left = rest >= 90 ? fmt::format("about {:.0f} min left", rest / 60) : fmt::format("about {:.0f} s left", rest);
  }
  const std::string line = fmt::format("\r\033[K{}: {:.0f} %, {}: {}", title_, total_ > 0 ? 100 * done_ / total_ : 0.0, left, what);
  std::fputs(line.c_str(), stderr);
  std::fflush(stderr);
}

void progress::clear() noexcept {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace penstock::bench
