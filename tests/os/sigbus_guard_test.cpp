// SPDX-License-Identifier: MIT
#include "lib/os/sigbus_guard.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "lib/os/file.hpp"
#include "tests/support/process.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::testing {
namespace {

/// Two pages of a file, mapped; truncate() takes the file away from under them.
class mapped_file {
 public:
  explicit mapped_file(const temp_folder& folder) : file_(::open((folder / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    void* const mapped =
        ::ftruncate(file_.get(), bytes) == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0) : MAP_FAILED;
    if (mapped == MAP_FAILED) throw std::runtime_error("mmap");
    begin_ = static_cast<std::byte*>(mapped);
  }
  ~mapped_file() { ::munmap(begin_, bytes); }
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;

  std::span<std::byte> memory() const { return {begin_, bytes}; }
  void store(std::size_t offset, int value) const { *static_cast<volatile std::byte*>(begin_ + offset) = static_cast<std::byte>(value); }
  int load(std::size_t offset) const { return static_cast<int>(*static_cast<const volatile std::byte*>(begin_ + offset)); }
  void truncate() const { ASSERT_EQ(::ftruncate(file_.get(), 0), 0); }

  static constexpr std::size_t bytes = 8192;

 private:
  os::descriptor file_;
  std::byte* begin_ = nullptr;
};

TEST(SigbusGuard, LetsAStoreToATruncatedFileGoOnInAnonymousMemory) {
  const temp_folder folder;
  const mapped_file file(folder);
  const os::sigbus_guard guard(file.memory());
  file.store(0, 1);
  EXPECT_FALSE(guard.hit());
  EXPECT_EQ(guard.fault_address(), nullptr);
  file.truncate();
  file.store(4097, 7);
  EXPECT_TRUE(guard.hit());
  EXPECT_EQ(guard.fault_address(), file.memory().data() + 4097);
  EXPECT_EQ(file.load(4097), 7);
  EXPECT_EQ(file.load(0), 0) << "all of the mapping is new memory";
}

TEST(SigbusGuard, WorksOnThreadsThatMaskedAllSignals) {
  const temp_folder folder;
  const mapped_file file(folder);
  const os::sigbus_guard guard(file.memory());
  file.truncate();
  std::thread([&] {
    const masked_signals masked;
    os::let_sigbus_through();
    file.store(0, 7);
  }).join();
  EXPECT_TRUE(guard.hit());
}

TEST(SigbusGuard, KeepsErrno) {
  const temp_folder folder;
  const mapped_file file(folder);
  const os::sigbus_guard guard(file.memory());
  file.truncate();
  errno = EXDEV;
  file.store(0, 7);
  EXPECT_EQ(errno, EXDEV);
}

TEST(SigbusGuard, EndsTheProcessForOtherAddressesAsIfItWereNotThere) {
  const temp_folder folder;
  EXPECT_EQ(status_of_child([&] {
              std::signal(SIGBUS, SIG_DFL);  // sanitizers have a handler of their own
              const mapped_file guarded(folder);
              const os::sigbus_guard guard(guarded.memory());
              const temp_folder other_folder;
              const mapped_file other(other_folder);
              other.truncate();
              std::filesystem::remove_all(other_folder.path());
              other.store(0, 7);
              return 1;
            }),
            -SIGBUS);
}

TEST(SigbusGuard, EndsTheProcessWhenTheSignalIsSent) {
  const temp_folder folder;
  EXPECT_EQ(status_of_child([&] {
              std::signal(SIGBUS, SIG_DFL);
              const mapped_file file(folder);
              const os::sigbus_guard guard(file.memory());
              ::raise(SIGBUS);
              return 1;
            }),
            -SIGBUS);
}

std::atomic<int> former_calls{0};
void former_handler(int) { ++former_calls; }
void former_long_handler(int, siginfo_t*, void*) { ++former_calls; }

TEST(SigbusGuard, PassesOtherSignalsToTheFormerHandlerAndPutsItBack) {
  const temp_folder folder;
  struct sigaction before {};
  for (const bool with_info : {false, true}) {
    struct sigaction action {};
    if (with_info) {
      action.sa_sigaction = former_long_handler;
      action.sa_flags = SA_SIGINFO;
    } else {
      action.sa_handler = former_handler;
    }
    ASSERT_EQ(::sigaction(SIGBUS, &action, with_info ? nullptr : &before), 0);
    former_calls = 0;
    const mapped_file file(folder);
    {
      const os::sigbus_guard guard(file.memory());
      ::raise(SIGBUS);
      EXPECT_EQ(former_calls, 1);
      file.truncate();
      file.store(0, 7);
      EXPECT_TRUE(guard.hit());
      EXPECT_EQ(former_calls, 1);
    }
    ::raise(SIGBUS);
    EXPECT_EQ(former_calls, 2);
  }
  ASSERT_EQ(::sigaction(SIGBUS, &before, nullptr), 0);
}

TEST(SigbusGuard, IgnoresASentSignalWhereItWasIgnored) {
  const temp_folder folder;
  EXPECT_EQ(status_of_child([&] {
              std::signal(SIGBUS, SIG_IGN);
              const mapped_file file(folder);
              const os::sigbus_guard guard(file.memory());
              ::raise(SIGBUS);
              file.truncate();
              file.store(0, 7);
              return guard.hit() ? 0 : 1;
            }),
            0);
}

TEST(SigbusGuard, RefusesMoreMappingsThanItHasPlacesFor) {
  std::vector<std::byte> memory(1);
  std::vector<std::unique_ptr<os::sigbus_guard>> guards;
  for (std::size_t n = 0; n < os::sigbus_guard_count_max; ++n) guards.push_back(std::make_unique<os::sigbus_guard>(memory));
  EXPECT_THROW(os::sigbus_guard{memory}, std::system_error);
  guards.pop_back();
  EXPECT_NO_THROW(os::sigbus_guard{memory});
}

}  // namespace
}  // namespace penstock::testing
