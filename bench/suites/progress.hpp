// SPDX-License-Identifier: MIT
// One line on a terminal's standard error: what runs, how much is left. Silent when standard error is no terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace penstock::bench {

class progress {
 public:
  /// `total_weight`: the sum of what step() will be given.
  progress(std::string title, double total_weight);
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Before a piece of work.
  void show(std::string_view what);
  /// After it.
  void step(double weight) noexcept { done_ += weight; }
  /// Removes the line, so that something else can be printed.
  void clear() noexcept;

 private:
  std::string title_;
  double total_;
  double done_ = 0;
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace penstock::bench
