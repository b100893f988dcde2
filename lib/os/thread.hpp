// SPDX-License-Identifier: MIT
// Threads of our own, and what is asked about the calling one.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <cstdint>
#include <memory>

namespace penstock::os {

/// The kernel's id of the calling thread, as `ps -L` and `top -H` show it.
int thread_id() noexcept;

/// A thread with all signals masked but those of faults, so that no write of ours is interrupted and no handler of the program runs on it.
///
/// Owner: join() or abandon() before it goes.
class thread {
 public:
  using body = void (*)(void* context);

  thread() = default;
  thread(const thread&) = delete;
  thread& operator=(const thread&) = delete;
  ~thread();

  /// Errors: std::system_error if no thread can be made (EAGAIN); nothing was started then.
  void start(const char* name, body run, void* context);
  bool running() const noexcept { return started_; }
  void join() noexcept;
  /// Leaves the thread to itself: it goes on, nobody waits for it.
  void abandon() noexcept;
  /// In a forked child, where the thread does not exist.
  void forget() noexcept { started_ = false; }

 private:
  pthread_t handle_{};
  bool started_ = false;
};

/// Binds the calling thread to one core; false if the kernel refuses.
bool pin_to_cpu(int cpu) noexcept;

/// Masks every signal but those of faults for the calling thread while it lives: used where a user's thread writes to sinks itself.
class signals_masked {
 public:
  signals_masked() noexcept;
  ~signals_masked();
  signals_masked(const signals_masked&) = delete;
  signals_masked& operator=(const signals_masked&) = delete;

 private:
  sigset_t former_;
};

}  // namespace penstock::os
