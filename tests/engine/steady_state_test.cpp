// SPDX-License-Identifier: MIT
// A thread in the steady state allocates nothing and calls nothing of the kernel: a filter kills the process at its first system call.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <thread>

#include "tests/engine/running.hpp"
#include "tests/support/process.hpp"
#include "tests/support/refused_calls.hpp"
#include "tests/support/sanitizers.hpp"

namespace {

thread_local std::size_t allocation_count = 0;
thread_local bool counting = false;

}  // namespace

// Counts for the thread that asks; every other allocation goes on as ever.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (counting) ++allocation_count;
  if (void* made = std::malloc(bytes == 0 ? 1 : bytes)) return made;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  if (counting) ++allocation_count;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
[[gnu::noinline]] void operator delete(void* dead) noexcept { std::free(dead); }
[[gnu::noinline]] void operator delete(void* dead, std::size_t) noexcept { std::free(dead); }

namespace penstock {
namespace {

struct SteadyState : testing::Running, ::testing::WithParamInterface<format_mode> {
  // Allowed for the rest of this thread's life: exit, and nothing else.
  static bool forbid_system_calls() {
    sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const sock_fprog filter{.len = static_cast<unsigned short>(std::size(program)), .filter = program};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
  }

  static void log_some(int count) {
    static logger& named = get("named");
    for (int i = 0; i < count; ++i) {
      PENSTOCK_INFO("order {} filled at {}", i, 2.5 * i);
      PENSTOCK_LOG_WARNING(named, "{} {} {:>8}", i, "a literal", std::string_view("a view"));
      info("macro-free {}", i);
      PENSTOCK_TRACE("off {}", i);
    }
  }

  config quiet() {
    config made = settings("null");
    made.backend.format = GetParam();
    made.loggers["root"].level = level::info;
    return made;
  }
};
INSTANTIATE_TEST_SUITE_P(Each, SteadyState, ::testing::Values(format_mode::backend, format_mode::automatic),
                         [](const auto& mode) { return std::string(mode.param == format_mode::backend ? "Backend" : "Auto"); });

TEST_P(SteadyState, AllocatesNothing) {
  if (testing::sanitized) GTEST_SKIP() << "the sanitizer brings its own allocator";
  start(quiet());
  for (int round = 0; round < 20; ++round) {
    log_some(100);
    ASSERT_TRUE(flush());
  }
  counting = true;
  for (int i = 0; i < 100; ++i) {
    allocation_count = 0;
    log_some(100);
    EXPECT_EQ(allocation_count, 0U);
    counting = false;
    ASSERT_TRUE(flush());
    counting = true;
  }
  counting = false;
}

TEST_P(SteadyState, MakesNoSystemCall) {
  if (testing::sanitized) GTEST_SKIP() << "the sanitizer makes system calls of its own";
  const auto run = [this](bool one_call_at_the_end) {
    return testing::status_of_child([&] {
      // Without this call no stream is ever parked, and a parked one makes one call to announce itself.
      if (!testing::refuse_call(SYS_membarrier, EPERM)) return 77;
      start(quiet());
      std::thread([&] {
        // A chunk of 128 KiB that is nearly empty, and a stream that is not parked, however long this thread loses its processor.
        log_some(700);
        flush();
        log_some(1);
        if (!forbid_system_calls()) ::_exit(77);
        log_some(20);
        if (one_call_at_the_end) static_cast<void>(::syscall(SYS_gettid));
        ::_exit(0);
      }).join();
      return 1;
    });
  };
  const int status = run(false);
  if (status == 77) GTEST_SKIP() << "seccomp filters are refused here";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(run(true), -SIGSYS) << "this test can no longer fail";
}

}  // namespace
}  // namespace penstock
