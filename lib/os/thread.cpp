// SPDX-License-Identifier: MIT
#include "lib/os/thread.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <system_error>

namespace penstock::os {

namespace {

struct start_data {
  thread::body run;
  void* context;
};

void* trampoline(void* raw) {
  const std::unique_ptr<start_data> data(static_cast<start_data*>(raw));
  data->run(data->context);
  return nullptr;
}

}  // namespace

int thread_id() noexcept { return static_cast<int>(::syscall(SYS_gettid)); }

thread::~thread() { join(); }

void thread::start(const char* name, body run, void* context) {
  auto data = std::make_unique<start_data>(start_data{run, context});
  int error = 0;
  {
    // The mask is inherited: the new thread never takes a signal, not even before its first line.
    const signals_masked masked;
    error = ::pthread_create(&handle_, nullptr, trampoline, data.get());
  }
  if (error != 0) throw std::system_error(error, std::generic_category(), std::string("cannot start thread ") + name);
  static_cast<void>(data.release());
  started_ = true;
  ::pthread_setname_np(handle_, name);
}

void thread::join() noexcept {
  if (!started_) return;
  ::pthread_join(handle_, nullptr);
  started_ = false;
}

void thread::abandon() noexcept {
  if (!started_) return;
  ::pthread_detach(handle_);
  started_ = false;
}

bool pin_to_cpu(int cpu) noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(cpu), &set);
  return ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set) == 0;
}

signals_masked::signals_masked() noexcept {
  sigset_t all;
  ::sigfillset(&all);
  // A fault that meets a masked signal ends the process, whatever handler there is.
  for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP}) ::sigdelset(&all, fault);
  ::pthread_sigmask(SIG_SETMASK, &all, &former_);
}

signals_masked::~signals_masked() {
  // A write to a closed pipe leaves SIGPIPE pending for this thread; it was ours, so it is taken here.
  sigset_t pipe_and_size;
  ::sigemptyset(&pipe_and_size);
  ::sigaddset(&pipe_and_size, SIGPIPE);
  ::sigaddset(&pipe_and_size, SIGXFSZ);
  const timespec none{};
  while (::sigtimedwait(&pipe_and_size, nullptr, &none) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

}  // namespace penstock::os
