// SPDX-License-Identifier: MIT
#include "lib/os/sigbus_guard.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <system_error>

namespace penstock::os {
namespace {

/// One guarded mapping. Written under the registration lock, except `fault`, which the handler writes. `begin` is published last (release,
/// pairs with the handler's acquire) and is 0 while the place is free.
struct place {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::size_t> bytes{0};
  std::atomic<std::uintptr_t> fault{0};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free, "the signal handler may not take a lock");

constexpr std::size_t forgotten = sigbus_guard_count_max;

constinit std::array<place, sigbus_guard_count_max> places{};
constinit std::mutex registration{};
constinit std::size_t guard_count = 0;  // under `registration`

/// The action in place before ours. Written before our handler is installed, under `registration`.
struct sigaction former_action {};
constinit std::atomic<bool> installed{false};

/// Maps anonymous memory over the place that holds `address`. Async-signal-safe: atomics and one system call.
bool cover(std::uintptr_t address) noexcept {
  for (place& guarded : places) {
    const std::uintptr_t begin = guarded.begin.load(std::memory_order_acquire);
    const std::size_t bytes = guarded.bytes.load(std::memory_order_relaxed);
    if (begin == 0 || address < begin || address - begin >= bytes) continue;
    // Once only: another thread may have stored to the new memory already. One that comes while it is being mapped faults again.
    std::uintptr_t none = 0;
    if (!guarded.fault.compare_exchange_strong(none, address, std::memory_order_acq_rel)) return true;
    // The raw call, since sanitizers replace mmap(), and theirs may not be entered from a signal handler.
    const long mapped = syscall(SYS_mmap, begin, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (mapped != -1) return true;
    guarded.fault.store(0, std::memory_order_release);
    return false;
  }
  return false;
}

/// Does what would have happened without us.
void pass_on(int number, siginfo_t* info, void* context) noexcept {
  const bool from_a_process = info->si_code <= 0;
  if ((former_action.sa_flags & SA_SIGINFO) != 0) {
    former_action.sa_sigaction(number, info, context);
    return;
  }
  if (former_action.sa_handler == SIG_IGN && from_a_process) return;
  if (former_action.sa_handler != SIG_DFL && former_action.sa_handler != SIG_IGN) {
    former_action.sa_handler(number);
    return;
  }
  // The default action ends the process: a fault repeats when this returns, so that the core shows it; a signal that was sent is sent again
  // and delivered when this returns. The kernel treats an ignored fault as the default, too.
  struct sigaction default_action {};
  default_action.sa_handler = SIG_DFL;
  sigaction(number, &default_action, nullptr);
  if (from_a_process) syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

void on_sigbus(int number, siginfo_t* info, void* context) noexcept {
  const int kept_errno = errno;
  if (!cover_guarded_fault(*info)) pass_on(number, info, context);
  errno = kept_errno;
}

void install() {
  struct sigaction current {};
  if (sigaction(SIGBUS, nullptr, &current) != 0) throw std::system_error(errno, std::generic_category(), "sigaction(SIGBUS)");
  // Still there, underneath a handler that was put on top of ours and has gone since, or never taken back.
  if ((current.sa_flags & SA_SIGINFO) != 0 && current.sa_sigaction == on_sigbus) return;
  if (installed.load(std::memory_order_relaxed)) return;  // somebody chains to us: becoming their successor again would be a circle
  former_action = current;
  struct sigaction ours {};
  ours.sa_sigaction = on_sigbus;
  // SA_ONSTACK as the crash handler has it; SA_NODEFER so that a fault inside the former action is not fatal in silence.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  if (sigaction(SIGBUS, &ours, nullptr) != 0) throw std::system_error(errno, std::generic_category(), "sigaction(SIGBUS)");
  installed.store(true, std::memory_order_relaxed);
}

void take_back() noexcept {
  struct sigaction current {};
  if (sigaction(SIGBUS, nullptr, &current) != 0) return;
  if ((current.sa_flags & SA_SIGINFO) == 0 || current.sa_sigaction != on_sigbus) return;
  sigaction(SIGBUS, &former_action, nullptr);
  installed.store(false, std::memory_order_relaxed);
}

}  // namespace

sigbus_guard::sigbus_guard(std::span<std::byte> mapping) {
  const std::lock_guard lock(registration);
  for (index_ = 0; index_ < places.size(); ++index_) {
    if (places[index_].begin.load(std::memory_order_relaxed) == 0) break;
  }
  if (index_ == places.size()) {
    throw std::system_error(ENOMEM, std::generic_category(),
                            "no place left to guard a mapped file: " + std::to_string(sigbus_guard_count_max) + " are guarded already");
  }
  install();
  ++guard_count;
  place& mine = places[index_];
  mine.fault.store(0, std::memory_order_relaxed);
  mine.bytes.store(mapping.size(), std::memory_order_relaxed);
  mine.begin.store(reinterpret_cast<std::uintptr_t>(mapping.data()), std::memory_order_release);
}

sigbus_guard::~sigbus_guard() {
  if (index_ == forgotten) return;
  const std::lock_guard lock(registration);
  places[index_].begin.store(0, std::memory_order_release);
  if (--guard_count == 0) take_back();
}

void sigbus_guard::forget() noexcept {
  if (index_ != forgotten) places[index_].begin.store(0, std::memory_order_release);
  index_ = forgotten;
}

bool cover_guarded_fault(const siginfo_t& info) noexcept {
  // A signal that a process sent has no address.
  return info.si_signo == SIGBUS && info.si_code > 0 && cover(reinterpret_cast<std::uintptr_t>(info.si_addr));
}

bool sigbus_guard::hit() const noexcept { return index_ != forgotten && places[index_].fault.load(std::memory_order_acquire) != 0; }

const std::byte* sigbus_guard::fault_address() const noexcept {
  if (index_ == forgotten) return nullptr;
  return reinterpret_cast<const std::byte*>(places[index_].fault.load(std::memory_order_acquire));
}

namespace {

sigset_t only_sigbus() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGBUS);
  return set;
}

}  // namespace

sigbus_unblocked::sigbus_unblocked() noexcept {
  const sigset_t set = only_sigbus();
  pthread_sigmask(SIG_UNBLOCK, &set, &former_);
}

sigbus_unblocked::~sigbus_unblocked() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }

void unblock_sigbus() noexcept {
  const sigset_t set = only_sigbus();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void let_sigbus_through() noexcept {
  static constinit thread_local bool done = false;
  if (done) return;
  unblock_sigbus();
  done = true;
}

}  // namespace penstock::os
