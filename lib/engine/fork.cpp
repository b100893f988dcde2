// SPDX-License-Identifier: MIT
// fork(): the child has no backend thread, and must not touch what the parent's backend still writes.
#include "lib/engine/engine.hpp"

namespace penstock::engine {

// Never waits for the backend: takes the locks of set-up only.
void instance::prepare_fork() noexcept {
  mutex_.lock();
  drain_mutex_.lock();
  streams_.mutex().lock();
  loggers_.mutex().lock();
}

void instance::resume_parent() noexcept {
  loggers_.mutex().unlock();
  streams_.mutex().unlock();
  drain_mutex_.unlock();
  mutex_.unlock();
}

void instance::begin_child() noexcept { resume_parent(); }

}  // namespace penstock::engine
