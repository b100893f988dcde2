// SPDX-License-Identifier: MIT
// fork(): the child has no backend thread, and must not touch what the parent's backend still writes. It forgets the parent's engine
// without destroying it; its first record starts a new one with the same configuration.
#include <unistd.h>

#include <algorithm>
#include <array>

#include <penstock/detail/stream_front.hpp>

#include "lib/engine/engine.hpp"
#include "lib/engine/front_end.hpp"

namespace penstock::engine {

namespace {

// Sinks that several processes may share; all others own their file.
constexpr std::array<std::string_view, 3> shared_types{"write", "console", "null"};

}  // namespace

config instance::for_child(config settings) {
  std::string suffix(1, '.');
  suffix += std::to_string(::getpid());
  for (auto& [name, sink] : settings.sinks) {
    if (sink.path.empty() || std::find(shared_types.begin(), shared_types.end(), sink.type) != shared_types.end()) continue;
    sink.path += suffix;
  }
  return settings;
}

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

void instance::begin_child() noexcept {
  resume_parent();
  if (state() == engine::state::unstarted) return;
  for (const auto& each : worker_.outputs()) each->destination().disown_after_fork();
  front_end::forget_stream();
  // Without memory for this there is no child worth speaking of.
  auto* child = new instance(loggers_, routes_);  // NOLINT(bugprone-unhandled-exception-at-new): it ends, as said
  child->settings_ = settings_;
  child->inherited_ = true;
  child->handler_ = handler_.load();
  current.store(child, std::memory_order_release);
}

}  // namespace penstock::engine
