// SPDX-License-Identifier: MIT
// Where the records of each logger go. Made by the engine, read by the backend without a lock; old tables are kept, since a record may
// still be on its way through one.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::backend {

class output;

struct route {
  std::string_view logger{};  ///< lives for ever
  std::vector<output*> outputs{};
};

class route_table {
 public:
  /// Replaces the table. Thread: under the engine's lock.
  void publish(std::vector<route> routes) {
    auto made = std::make_unique<std::vector<route>>(std::move(routes));
    current_.store(made.get(), std::memory_order_release);
    kept_.push_back(std::move(made));
  }
  /// The routes by logger index. Pairs with publish(); a logger's route is there before its handle is.
  const std::vector<route>& current() const noexcept { return *current_.load(std::memory_order_acquire); }
  /// Forgets replaced tables. Thread: under the engine's lock, while no backend runs.
  void forget_old() {
    if (kept_.size() > 1) kept_.erase(kept_.begin(), kept_.end() - 1);
  }

 private:
  static inline const std::vector<route> none{};
  std::atomic<const std::vector<route>*> current_{&none};
  std::vector<std::unique_ptr<std::vector<route>>> kept_;
};

}  // namespace penstock::backend
