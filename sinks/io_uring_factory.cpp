// SPDX-License-Identifier: MIT
// Whether io_uring can be used is found out by using it: a ring that can be made may still refuse to be entered.
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "sinks/factory.hpp"
#include "sinks/io_uring_sink.hpp"

namespace penstock::sinks {
namespace {

using namespace std::chrono_literals;

// A write of nothing touches no disk: a kernel that has not done it by then will not. In several looks, since time that passes while the
// process stands still (stopped, or its machine suspended) gives the kernel's worker none.
constexpr auto probe_wait = 2s;
constexpr int probe_looks = 20;

// A ring that was closed is taken down by the kernel later, and counts against the locked memory of its user until then.
// Source: Linux 6.18 under RLIMIT_MEMLOCK 64 KiB, a ring after the other: without a wait some are refused.
constexpr auto memory_wait = 10ms;
constexpr int memory_waits_max = 20;

struct refusal {
  int os_error = 0;
  std::string text{};
};

/// Makes the ring and writes nothing to the file by it, the way batches are written.
std::optional<refusal> try_ring(uring& ring, const sink_config& settings, const uring_file& file) {
  if (!uring::built()) return refusal{ENOSYS, "built without io_uring (PENSTOCK_IO_URING=OFF)"};
  int os_error = ring.open(uring_entries(settings));
  for (int waits = 0; os_error == ENOMEM && waits < memory_waits_max; ++waits) {
    std::this_thread::sleep_for(memory_wait);
    os_error = ring.open(uring_entries(settings));
  }
  if (os_error != 0) return refusal{os_error, uring_refusal("io_uring_setup", os_error)};
  ring.use_files(file.fd(), file.direct_fd());
  const std::byte nothing{};
  ring.put({.file = uring_file::plain, .data = {&nothing, 0}, .offset = file.size(), .by_worker = true});

  uring_result result;
  const auto deadline = std::chrono::steady_clock::now() + probe_wait;
  for (int looks = 1; ring.take({&result, 1}) == 0; ++looks) {
    const bool given_up = looks > probe_looks && std::chrono::steady_clock::now() > deadline;
    os_error = given_up ? ETIMEDOUT : ring.wait(probe_wait / probe_looks);
    if (os_error == 0 || os_error == EAGAIN || os_error == EBUSY || os_error == EINTR) continue;
    return refusal{os_error, uring_refusal("io_uring_enter", os_error)};
  }
  if (result.result < 0) return refusal{-result.result, uring_refusal("a write by io_uring", -result.result)};
  return std::nullopt;
}

/// Another sink in the place of the one that was asked for, which says why.
class fallback_sink final : public sink {
 public:
  fallback_sink(std::unique_ptr<sink> used, std::string reason) : used_(std::move(used)), reason_(std::move(reason)) {}

  batch lend(lend_request request) noexcept override { return used_->lend(request); }
  outcome submit(std::size_t used_bytes) noexcept override { return used_->submit(used_bytes); }
  outcome resume() noexcept override { return used_->resume(); }
  std::size_t abandon() noexcept override { return used_->abandon(); }
  outcome flush() noexcept override { return used_->flush(); }
  outcome sync() noexcept override { return used_->sync(); }
  outcome reopen() noexcept override { return used_->reopen(); }
  std::uint64_t in_flight_bytes() const noexcept override { return used_->in_flight_bytes(); }
  outcome maintain() noexcept override { return used_->maintain(); }
  std::unique_ptr<sink> retire() noexcept override { return used_->retire(); }
  void disown_after_fork() noexcept override { used_->disown_after_fork(); }
  sink_description describe() const override {
    sink_description description = used_->describe();
    description.fallback = description.fallback.empty() ? reason_ : reason_ + "; " + description.fallback;
    return description;
  }

 private:
  std::unique_ptr<sink> used_;
  std::string reason_;
};

}  // namespace

std::unique_ptr<sink> make_io_uring_sink(const sink_config& settings) {
  std::optional<refusal> refused;
  {
    uring_file file(settings);
    uring ring;
    refused = try_ring(ring, settings, file);
    if (!refused.has_value()) return std::make_unique<io_uring_sink>(settings, std::move(file), std::move(ring));
    ring.close();
    file.close();  // unlocked, so that pwrite can have it
  }
  if (settings.strict)
    throw std::system_error(
        refused->os_error, std::generic_category(),
        "cannot use io_uring for '" + settings.path.string() + "' (" + refused->text + "; or set strict = false, to fall back to pwrite)");
  sink_config instead = settings;
  instead.type = "pwrite";
  return std::make_unique<fallback_sink>(make_pwrite_sink(instead), "io_uring was asked for: " + refused->text);
}

}  // namespace penstock::sinks
