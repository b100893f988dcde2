// SPDX-License-Identifier: MIT
// A thin layer over liburing, and the only one that knows it: requests go in, results come out, nothing waits unless asked to.
// What surprises: a request that was put is only *ours* until send() has handed it over, and the kernel may refuse to take it; it then
// stays here and goes with the next send(). Nobody may wait for it before that.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace penstock::sinks {

/// What became of one request.
struct uring_result {
  std::uint64_t tag = 0;
  int result = 0;  ///< bytes written, or minus an errno
};

/// A write to put.
struct uring_write {
  unsigned file = 0;  ///< which of the descriptors given to use_files()
  std::span<const std::byte> data{};
  std::uint64_t offset = 0;
  int buffer = -1;              ///< which registered buffer `data` lies in; -1: none
  int flags = 0;                ///< RWF_…
  bool by_worker = false;       ///< never tried on the calling thread: the kernel's worker for this file does it, in order of submission
  bool linked_to_next = false;  ///< the next one starts when this one is complete, and is cancelled if this one is short
  std::uint64_t tag = 0;
};

/// One io_uring. Any thread may use it, one at a time.
class uring {
 public:
  /// False: built without io_uring, and open() gives ENOSYS.
  static bool built() noexcept;

  uring() noexcept;
  ~uring();
  uring(uring&&) noexcept;
  uring& operator=(uring&&) noexcept;

  /// Makes the ring. Its completion queue holds twice `entries`, so that it cannot overflow while no more than that are on their way.
  ///
  /// Errors: the errno of io_uring_setup(2), 0 if it worked.
  int open(unsigned entries) noexcept;
  bool is_open() const noexcept { return state_ != nullptr; }

  /// The descriptors that requests name by index, at most two. Registered where the kernel lets us, which saves it a look-up.
  ///
  /// Owner: they stay open until the next use_files() or close().
  void use_files(int first, int second) noexcept;

  /// Pins the buffers, so that the kernel need not do so for every direct write.
  ///
  /// Errors: an errno (ENOMEM: RLIMIT_MEMLOCK), 0 if it worked.
  int register_buffers(std::byte* memory, std::size_t bytes_each, unsigned count) noexcept;

  /// How many requests can be put now.
  unsigned vacant() const noexcept;
  /// How many were put and are not yet with the kernel.
  unsigned unsent() const noexcept;

  void put(const uring_write& write) noexcept;
  void put_sync(unsigned file, std::uint64_t tag) noexcept;
  void put_allocate(unsigned file, std::uint64_t offset, std::uint64_t bytes, std::uint64_t tag) noexcept;

  /// Hands over what was put.
  ///
  /// Errors: an errno, 0 if all went. What did not go stays here.
  /// Source: man 2 io_uring_enter, ERRORS: EAGAIN, EBUSY and EINTR are passing.
  int send() noexcept;

  /// Takes results that are there; makes a system call only if the kernel says that it holds some back.
  std::size_t take(std::span<uring_result> out) noexcept;

  /// Tests: every result passes `change` before take() gives it; nullptr ends that. The bytes are in the file all the same.
  ///
  /// Thread: called while no ring is in use.
  static void change_results(int (*change)(std::uint64_t tag, int result) noexcept) noexcept;

  /// Waits for a result, at most `most`; sends first, and does not wait for what cannot be sent.
  ///
  /// Errors: the errno of the failed send, otherwise 0, whether or not something came.
  int wait(std::chrono::nanoseconds most) noexcept;

  /// Requests that the kernel still has go on by themselves for a while; their memory must stay.
  void close() noexcept;
  /// In a forked child, where the ring is not mapped: closes its descriptor only.
  void disown() noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace penstock::sinks
