// SPDX-License-Identifier: MIT
// kill -9 at a random moment, again and again, on one ring: every line that was committed is read, none is torn, and each restart goes on.
// PENSTOCK_RING_KILLS sets how often (default 100).
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "tests/sinks/ring_support.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::testing {
namespace {

/// The line of a number; its length and every byte follow from the number.
std::string numbered_line(std::uint64_t number) {
  std::string line = std::to_string(number) + ' ';
  const std::size_t bytes = 1 + static_cast<std::size_t>(number * 2654435761U % 293);
  for (std::size_t n = 0; n < bytes; ++n) line += static_cast<char>('a' + (number + n) % 26);
  return line + '\n';
}

/// What the child tells: lines [0, committed) were submitted to their end, by it or its predecessors.
using shared_count = std::atomic<std::uint64_t>;

/// Fills batches as the backend does: to the last byte, or, now and then, after a line. Never returns.
[[noreturn]] void write_until_killed(const sink_config& settings, shared_count& committed, std::uint64_t next, unsigned seed) {
  const auto ring = sinks::make_mmap_ring_sink(settings);
  std::mt19937 random(seed);
  batch lent = ring->lend({});
  std::size_t used = 0;
  for (;; ++next) {
    const std::string line = numbered_line(next);
    std::string_view rest = line;
    for (;;) {
      const std::size_t piece = std::min(rest.size(), lent.room.size() - used);
      std::memcpy(lent.room.data() + used, rest.data(), piece);
      used += piece;
      rest.remove_prefix(piece);
      const bool due = rest.empty() && random() % 16 == 0;
      if (used < lent.room.size() && !due) break;
      if (!ring->submit(used).ok()) ::_exit(1);
      // Only what ended inside that batch is committed: a line whose rest is still to come is not.
      committed.store(rest.empty() ? next + 1 : next, std::memory_order_release);
      lent = ring->lend({});
      used = 0;
      if (rest.empty()) break;
    }
  }
}

/// Checks that the text is whole lines of consecutive numbers; gives the first and the one behind the last.
std::optional<std::pair<std::uint64_t, std::uint64_t>> numbers_in(std::string_view text) {
  std::uint64_t first = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), first).ec != std::errc{}) return std::nullopt;
  std::uint64_t number = first;
  for (; !text.empty(); ++number) {
    const std::string line = numbered_line(number);
    if (!text.starts_with(line)) return std::nullopt;
    text.remove_prefix(line.size());
  }
  return std::pair{first, number};
}

int wanted_kill_count() {
  const char* const wanted = std::getenv("PENSTOCK_RING_KILLS");
  return wanted != nullptr ? std::atoi(wanted) : 100;
}

void kill_again_and_again(sync_policy sync, int kill_count) {
  const temp_folder folder;
  sink_config settings = small_ring(folder / "ring", 256 << 10);
  settings.sync = sync;
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto& committed = *new (page) shared_count(0);
  std::mt19937 random(std::random_device{}());
  std::uint64_t next = 0;
  for (int kill_number = 0; kill_number < kill_count; ++kill_number) {
    const auto seed = static_cast<unsigned>(random());
    const pid_t child = ::fork();
    ASSERT_NE(child, -1);
    if (child == 0) write_until_killed(settings, committed, next, seed);
    // The moment: after a random number of commits, and then some.
    const std::uint64_t until = next + 1 + random() % 3'000;
    while (committed.load(std::memory_order_acquire) < until) {
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "the writer ended by itself: " << status;
    }
    for (auto spin = random() % 20'000; spin != 0; --spin) std::atomic_signal_fence(std::memory_order_seq_cst);
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);

    const std::string text = lines_in(settings.path);
    const auto numbers = numbers_in(text);
    ASSERT_TRUE(numbers) << "a torn or missing line after kill " << kill_number << ", seed " << seed;
    ASSERT_GE(numbers->second, committed.load()) << "a committed line is missing after kill " << kill_number << ", seed " << seed;
    ASSERT_TRUE(numbers->first == 0 || text.size() > (200 << 10)) << "only " << text.size() << " bytes were kept";
    next = numbers->second;
  }
  ::munmap(page, 4096);
}

TEST(MmapRingKill, EveryCommittedLineIsReadAndNoneIsTorn) { kill_again_and_again({}, wanted_kill_count()); }

TEST(MmapRingKill, EveryCommittedLineIsReadAndNoneIsTornWithChecksums) {
  kill_again_and_again({.each_batch = false, .interval = std::chrono::hours(1)}, wanted_kill_count() / 4);
}

}  // namespace
}  // namespace penstock::testing
