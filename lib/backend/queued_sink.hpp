// SPDX-License-Identifier: MIT
// Gives a sink that may block a thread of its own and up to four batches, so that it does not stop the others: the backend's calls never
// wait for it. Used where there is more than one sink.
//
//   backend ── lend/submit ──► free │ filled │ filled ──► writer thread ── lend/copy/submit ──► the sink inside
#pragma once

#include <memory>

#include <penstock/sink.hpp>

namespace penstock::backend {

class queued_sink final : public sink {
 public:
  /// Batches in all, the one being filled included.
  static constexpr std::size_t batch_count = 4;

  /// \param on_thread called once on the writer thread: what the sink inside logs there must never wait for the backend
  ///
  /// Errors: std::bad_alloc; std::system_error if there is no thread.
  queued_sink(std::unique_ptr<sink> inside, std::size_t batch_bytes, void (*on_thread)() = nullptr);
  ~queued_sink() override;

  batch lend(lend_request request) noexcept override;
  outcome submit(std::size_t used_bytes) noexcept override;
  outcome resume() noexcept override;
  std::size_t abandon() noexcept override;
  outcome flush() noexcept override;
  outcome sync() noexcept override;
  outcome reopen() noexcept override;
  std::uint64_t in_flight_bytes() const noexcept override;
  outcome maintain() noexcept override;
  std::unique_ptr<sink> retire() noexcept override;
  void disown_after_fork() noexcept override;
  sink_description describe() const override;

 private:
  struct shared;
  std::shared_ptr<shared> shared_;  // The thread's too: one that never comes back from the kernel is left behind with it.
};

}  // namespace penstock::backend
