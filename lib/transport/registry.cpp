// SPDX-License-Identifier: MIT
#include "lib/transport/registry.hpp"

namespace penstock::transport {

thread_stream* registry::open(int thread_id) {
  const std::lock_guard lock(mutex_);
  thread_stream* opened = nullptr;
  if (spare_.empty()) {
    opened = &streams_.emplace_back(home_, static_cast<std::uint32_t>(streams_.size()));
    spare_.reserve(streams_.size());  // So that give_back() never allocates.
  } else {
    opened = spare_.back();
    spare_.pop_back();
  }
  opened->reuse(thread_id);
  return opened;
}

void registry::give_back(thread_stream* done) noexcept {
  const std::lock_guard lock(mutex_);
  spare_.push_back(done);
}

}  // namespace penstock::transport
