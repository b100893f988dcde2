// SPDX-License-Identifier: MIT
// Kernels that refuse io_uring, in whole or in part: a seccomp filter in a child process answers in the kernel's place.
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>

#include "tests/sinks/io_uring_driver.hpp"
#include "tests/support/process.hpp"
#include "tests/support/refused_calls.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using penstock::testing::io_uring_driver;
using penstock::testing::refuse_call;
using penstock::testing::status_of_child;
using penstock::testing::temp_folder;
using penstock::testing::text_of;

constexpr int no_filter = 77;
constexpr const char* built_without_text = "built without io_uring";

bool built_without() { return penstock::testing::io_uring_refusal().find(built_without_text) != std::string::npos; }

class IoUringRefused : public ::testing::Test {
 protected:
  sink_config settings() {
    sink_config made;
    made.type = "io_uring";
    made.path = path;
    made.batch_size = 8192;
    return made;
  }

  /// Writes a text by the sink and looks at the file; 0 if all is as it should be.
  int write_and_compare(sink& target) {
    io_uring_driver driver(target);
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "line " + std::to_string(i) + "\n";
    if (!driver.text(text).ok() || !driver.flush().ok()) return 10;
    return text_of(path) == text ? 0 : 11;
  }

  /// What a sink does whose kernel refuses: it is another one, says why, and writes.
  int falls_back(std::string_view reason) {
    const auto made = make_io_uring_sink(settings());
    const sink_description description = made->describe();
    std::fprintf(stderr, "    %s\n", description.fallback.c_str());
    if (description.kind != "pwrite") return 1;
    if (description.fallback.find(reason) == std::string::npos) return 2;
    return write_and_compare(*made);
  }

  int refuses_to_start(int os_error) {
    sink_config strict = settings();
    strict.strict = true;
    try {
      make_io_uring_sink(strict);
      return 1;
    } catch (const std::system_error& refused) {
      if (refused.code().value() != os_error) return 2;
      const std::string text = refused.what();
      return text.find(path.string()) != std::string::npos && text.find("strict") != std::string::npos ? 0 : 3;
    }
  }

  void expect(int status) {
    if (status == no_filter) GTEST_SKIP() << "seccomp filters cannot be used here";
    EXPECT_EQ(status, 0);
  }
  void skip_without_io_uring() {
    if (const std::string reason = penstock::testing::io_uring_refusal(); !reason.empty())
      GTEST_SKIP() << "io_uring cannot be used here: " << reason;
  }

  temp_folder folder;
  fs::path path = folder / "log";
};

TEST_F(IoUringRefused, WritesByPwriteAndSaysWhyWhenTheRingCannotBeMade) {
  for (const auto& [os_error, reason] : {std::pair{EPERM, "Operation not permitted"}, std::pair{ENOSYS, "Function not implemented"},
                                         std::pair{ENOMEM, "Cannot allocate memory"}, std::pair{EMFILE, "Too many open files"}}) {
    fs::remove(path);
    expect(status_of_child([&, error = os_error, why = reason] {
      if (!refuse_call(SYS_io_uring_setup, error)) return no_filter;
      return falls_back(built_without() ? built_without_text : why);
    }));
  }
}

TEST_F(IoUringRefused, WritesByPwriteWhenTheRingCanBeMadeButNotEntered) {
  for (const int os_error : {EPERM, ENOSYS}) {
    fs::remove(path);
    // Where io_uring is refused anyway, the reason is another.
    const std::string reason = penstock::testing::io_uring_refusal().empty() ? std::generic_category().message(os_error) : "";
    expect(status_of_child([&] {
      if (!refuse_call(SYS_io_uring_enter, os_error)) return no_filter;
      return falls_back(reason);
    }));
  }
}

TEST_F(IoUringRefused, RefusesToStartWhenItIsStrict) {
  expect(status_of_child([&] {
    if (!refuse_call(SYS_io_uring_setup, EPERM)) return no_filter;
    return refuses_to_start(built_without() ? ENOSYS : EPERM);
  }));
}

TEST_F(IoUringRefused, GoesOnWithoutRegisteredMemoryAndFiles) {
  skip_without_io_uring();
  if (IsSkipped()) return;
  expect(status_of_child([&] {
    if (!refuse_call(SYS_io_uring_register, EPERM)) return no_filter;
    const auto made = make_io_uring_sink(settings());
    const sink_description description = made->describe();
    std::fprintf(stderr, "    %s\n", description.note.c_str());
    if (description.kind != "io_uring" || !description.fallback.empty()) return 1;
    if (description.note.find("not registered") == std::string::npos) return 2;
    return write_and_compare(*made);
  }));
}

TEST_F(IoUringRefused, GoesOnByPwriteWhenTheRingIsRefusedLater) {
  skip_without_io_uring();
  if (IsSkipped()) return;
  // EAGAIN may pass, and is believed for a second.
  for (const int os_error : {EPERM, EAGAIN}) {
    fs::remove(path);
    expect(status_of_child([&] {
      const auto made = make_io_uring_sink(settings());
      if (made->describe().kind != "io_uring") return 1;
      if (!refuse_call(SYS_io_uring_enter, os_error)) return no_filter;
      if (const int status = write_and_compare(*made); status != 0) return status;
      const sink_description description = made->describe();
      std::fprintf(stderr, "    %s\n", description.fallback.c_str());
      if (description.kind != "pwrite" || description.fallback.empty()) return 2;
      return made->sync().ok() ? 0 : 3;
    }));
  }
}

/// Runs tests of this program again with some calls of io_uring_enter(2) failing; false: that cannot be done here.
bool run_with_failing_enter(const std::string& os_error, const std::string& which_calls, int& status) {
  if (std::system("strace -o /dev/null true 2>/dev/null") != 0) return false;
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const std::string command = "strace -f -o /dev/null -e trace=io_uring_enter -e inject=io_uring_enter:error=" + os_error +
                              ":when=" + which_calls + " '" + self +
                              "' --gtest_filter='*IoUringSink.GoesOnAtTheEnd*/Depth2*' >/dev/null 2>&1";
  // The leak check stops other threads by the means that strace uses already.
  status = std::system(("ASAN_OPTIONS=detect_leaks=0 timeout 240 " + command).c_str());
  return true;
}

TEST_F(IoUringRefused, NeitherLosesNorWaitsForeverWhenTheKernelTakesNoRequestInPassing) {
  skip_without_io_uring();
  if (IsSkipped()) return;
  for (const char* const os_error : {"EAGAIN", "EINTR", "EBUSY"}) {
    for (const char* const which_calls : {"1", "2", "7", "2+3"}) {
      int status = 0;
      if (!run_with_failing_enter(os_error, which_calls, status)) GTEST_SKIP() << "strace cannot be used here";
      EXPECT_EQ(status, 0) << os_error << " at call " << which_calls;
    }
  }
}

TEST_F(IoUringRefused, NeedsNoPrivilegesAndLittleLockedMemory) {
  skip_without_io_uring();
  if (IsSkipped()) return;
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user here";
  fs::permissions(folder.path(), fs::perms::all);
  for (const rlim_t limit : {rlim_t{65536}, rlim_t{0}}) {
    fs::remove(path);
    const int status = status_of_child([&] {
      const rlimit locked{limit, limit};
      if (::setrlimit(RLIMIT_MEMLOCK, &locked) != 0 || ::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)
        return no_filter;
      sink_config big = settings();
      big.batch_size = 262144;
      big.path = path;
      std::unique_ptr<sink> made;
      try {
        made = make_io_uring_sink(big);
      } catch (const std::system_error&) {
        return 78;  // the folder cannot be reached as another user
      }
      const sink_description description = made->describe();
      std::fprintf(stderr, "    %s: %s%s\n", description.kind.c_str(), description.note.c_str(), description.fallback.c_str());
      if (description.note.empty() && description.fallback.empty()) return 1;
      return write_and_compare(*made);
    });
    if (status == no_filter) GTEST_SKIP() << "privileges cannot be dropped here";
    if (status == 78) GTEST_SKIP() << "user 65534 cannot reach the folder of this test";
    EXPECT_EQ(status, 0) << "RLIMIT_MEMLOCK " << limit;
  }
}

TEST_F(IoUringRefused, MakesRingAfterRingWhereThereIsLockedMemoryForFew) {
  skip_without_io_uring();
  if (IsSkipped()) return;
  fs::permissions(folder.path(), fs::perms::all);
  const int status = status_of_child([&] {
    const rlimit locked{65536, 65536};
    if (::setrlimit(RLIMIT_MEMLOCK, &locked) != 0) return no_filter;
    // Nothing limits root.
    if (::geteuid() == 0 && (::setgroups(0, nullptr) != 0 || ::setgid(65534) != 0 || ::setuid(65534) != 0)) return no_filter;
    sink_config strict = settings();
    strict.strict = true;
    for (int i = 0; i < 50; ++i) {
      try {
        const auto made = make_io_uring_sink(strict);
        io_uring_driver driver(*made);
        if (!driver.text("line\n").ok() || !driver.flush().ok()) return 1;
      } catch (const std::system_error& refused) {
        std::fprintf(stderr, "    ring %d: %s\n", i, refused.what());
        return i == 0 ? no_filter : 2;
      }
    }
    return 0;
  });
  if (status == no_filter) GTEST_SKIP() << "SKIPPED: another user cannot reach the folder of this test, or may lock less than one ring";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock::sinks
