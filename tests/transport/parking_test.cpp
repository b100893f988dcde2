// SPDX-License-Identifier: MIT
// The parking protocol: a thread that logs while the backend forgets its stream is always seen. The same test run with the flag looked at
// before the commit loses records: that is what the order is for, and what shows that this test can fail.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "lib/backend/merge.hpp"
#include "lib/os/futex.hpp"
#include "tests/support/stream_driver.hpp"

namespace penstock {
namespace {

using testing::stream_driver;

enum class order { commit_first, flag_first };

struct outcome_of_run {
  int parks = 0;
  int unseen = 0;
  bool gave_up = false;  ///< the minute was over
};

// A record that was committed without the reader having heard of it stays unseen until the test, not the protocol, tells.
class parking_run {
 public:
  explicit parking_run(order how) : how_(how) {
    memory_.set_budget(std::size_t{1} << 20);
    os::membarrier_register();
    stream_ = streams_.open(1);
  }

  outcome_of_run run(int rounds, bool until_unseen) {
    std::thread thread([&] { log_one_by_one(rounds); });
    std::uint64_t clock = 1;
    auto waiting_since = std::chrono::steady_clock::now();
    const auto give_up_at = waiting_since + std::chrono::minutes(1);
    while (!done_.load(std::memory_order_acquire)) {
      merge_.adopt();
      merge_.drain(~std::uint64_t{0}, 1 << 20, [&](transport::thread_stream&, const detail::record_header&) {
        taken_.fetch_add(1, std::memory_order_release);
        return true;
      });
      merge_.recycle(clock, ~std::uint64_t{0});
      const bool before = merge_.any_active();
      merge_.park_idle(static_cast<std::int64_t>(++clock), 0);
      if (before && !merge_.any_active()) ++result_.parks;

      const int logged = logged_.load(std::memory_order_acquire);
      const auto now = std::chrono::steady_clock::now();
      if (taken_.load(std::memory_order_relaxed) == logged || logged != last_logged_) {
        waiting_since = now;
        turns_ = 0;
        last_logged_ = logged;
      } else if (++turns_ > 1'000 && now - waiting_since > std::chrono::milliseconds(200)) {
        ++result_.unseen;
        stream_->announce_if_parked();
        waiting_since = now;
        if (until_unseen) stop_.store(true);
      }
      if (until_unseen && now > give_up_at && !stop_.load()) {
        result_.gave_up = result_.unseen == 0;
        stop_.store(true);
      }
    }
    thread.join();
    return result_;
  }

 private:
  void log_one_by_one(int rounds) {
    stream_driver driver(memory_, *stream_);
    const auto tell = [&] { stream_->announce_if_parked(); };
    for (int i = 1; i <= rounds && !stop_.load(); ++i) {
      // Pauses of all lengths, so that commits fall into every moment of the reader's turn.
      for (int pause = (i * 37) % 101; pause > 0; --pause) os::cpu_relax();
      const std::size_t bytes = detail::record_bytes_for(1);
      while (!driver.place(bytes, "x", static_cast<std::uint64_t>(i))) std::this_thread::yield();
      if (how_ == order::commit_first) {
        detail::commit(*stream_, bytes, tell);
      } else {
        if (stream_->parked.load(std::memory_order_relaxed) != 0) tell();
        detail::commit(*stream_, bytes, [] {});
      }
      logged_.store(i, std::memory_order_release);
      while (taken_.load(std::memory_order_acquire) < i && !stop_.load()) os::cpu_relax();
    }
    done_.store(true, std::memory_order_release);
  }

  order how_;
  transport::exchange memory_;
  transport::registry streams_{memory_};
  backend::merge merge_{memory_, streams_};
  transport::thread_stream* stream_ = nullptr;
  std::atomic<int> logged_{0};
  std::atomic<int> taken_{0};
  std::atomic<bool> done_{false};
  std::atomic<bool> stop_{false};
  int last_logged_ = 0;
  int turns_ = 0;  // Of the reader, since it saw anything.
  outcome_of_run result_{};
};

bool can_park() {
  os::membarrier_register();
  return os::membarrier_available();
}

TEST(Parking, LosesNoRecordThatIsCommittedWhileTheStreamIsForgottenConcurrently) {
  if (!can_park()) GTEST_SKIP() << "the kernel refuses membarrier(PRIVATE_EXPEDITED): streams are never parked here";
  const outcome_of_run seen = parking_run(order::commit_first).run(20'000, false);
  EXPECT_GT(seen.parks, 10) << "the run did not park often enough to show anything";
  EXPECT_EQ(seen.unseen, 0);
}

TEST(Parking, WouldLoseRecordsIfTheFlagWereTestedBeforeTheCommitConcurrently) {
  if (!can_park()) GTEST_SKIP() << "the kernel refuses membarrier(PRIVATE_EXPEDITED): streams are never parked here";
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one processor: the two threads never meet in the moment that matters";
  const outcome_of_run seen = parking_run(order::flag_first).run(2'000'000, true);
  if (seen.gave_up)
    GTEST_SKIP() << "SKIPPED: within a minute the machine gave the two threads only " << seen.parks
                 << " chances to meet in the moment that matters, and they did not";
  EXPECT_GT(seen.unseen, 0) << "this test can no longer fail: the wrong order lost nothing in " << seen.parks << " parks";
}

}  // namespace
}  // namespace penstock
