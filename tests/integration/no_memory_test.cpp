// SPDX-License-Identifier: MIT
// A program without memory: log calls do not throw, the backend does not end the program, and each record is written or counted.
#include <sys/resource.h>

#include <atomic>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include "tests/engine/running.hpp"
#include "tests/support/process.hpp"
#include "tests/support/sanitizers.hpp"

namespace penstock {
namespace {

using namespace std::chrono_literals;

/// No more memory for anybody in this process while it lives: what the heap has left is taken, and it may not grow.
class no_memory {
 public:
  no_memory() {
    ::getrlimit(RLIMIT_AS, &former_);
    rlimit none = former_;
    none.rlim_cur = 1;
    ::setrlimit(RLIMIT_AS, &none);
    // A list within what was taken needs no memory of its own.
    for (std::size_t bytes = std::size_t{1} << 20; bytes >= sizeof(piece); bytes /= 2)
      while (void* taken = std::malloc(bytes)) taken_ = new (taken) piece{taken_};
  }
  ~no_memory() {
    ::setrlimit(RLIMIT_AS, &former_);
    while (taken_ != nullptr) std::free(std::exchange(taken_, taken_->next));
  }
  no_memory(const no_memory&) = delete;
  no_memory& operator=(const no_memory&) = delete;

 private:
  struct piece {
    piece* next;
  };
  piece* taken_ = nullptr;
  rlimit former_{};
};

struct NoMemory : testing::Running, ::testing::WithParamInterface<const char*> {
  int log_without_memory() {
    static std::atomic<bool> empty{false};
    static std::atomic<bool> done{false};
    config made = settings(GetParam());
    made.backend.memory = std::size_t{4} << 20;
    start(made);
    const std::string large(200'000, 'x');
    std::string dirty(200'000, '\n');  // Escaped, it is twice as long.
    const std::string user(50'000, 'u');
    PENSTOCK_INFO("before");
    // A thread that has not logged yet has no stream.
    std::thread late([] {
      empty.wait(false);
      for (int i = 0; i < 100; ++i) PENSTOCK_INFO("late {}", i);
      done = true;
      done.notify_all();
    });
    if (!flush(30s)) return 1;
    {
      const no_memory now;
      empty = true;
      empty.notify_all();
      for (int i = 0; i < 20; ++i) {
        PENSTOCK_INFO("small {}", i);
        PENSTOCK_INFO("large {}", large);
        PENSTOCK_INFO("dirty {}", dirty);
        PENSTOCK_INFO("outgrown {:{}}", i, 3'000'000);
        info(runtime("text {} {}"), i, user);
      }
      done.wait(false);
      static_cast<void>(flush(2s));
    }
    late.join();
    PENSTOCK_INFO("after");
    static_cast<void>(flush(30s));
    const stats_snapshot then = stats();
    const front_stats counted = front();
    if (counted.accepted.total() != 202U) return 2;
    if (then.front.queued != 0 || counted.taken.total() + counted.dropped_total() != 202U) return 3;
    const sink_stats& app = then.sinks[0];
    if (app.taken.total() != app.written.total() + app.lost.total() || app.disabled) return 4;
    const std::vector<std::string> lines = records_of(text());
    if (lines.size() != app.written.total()) return 5;
    if (lines.front() != "before" || lines.back() != "after") return 6;
    // What was too long to be laid out leaves no part of it.
    for (const std::string& line : lines)
      if (line.rfind("large", 0) == 0 && line != "large " + large) return 7;
    return stop(30s) ? 0 : 8;
  }
};
INSTANTIATE_TEST_SUITE_P(Under, NoMemory, ::testing::Values("write", "pwrite", "io_uring", "stdio"),
                         [](const auto& chosen) { return std::string(chosen.param); });

TEST_P(NoMemory, EndsNobodyAndEachRecordIsWrittenOrCounted) {
  if (testing::sanitized) GTEST_SKIP() << "SKIPPED: a sanitizer ends the program when it gets no memory";
  EXPECT_EQ(testing::status_of_child([this] {
              count_anew();
              return log_without_memory();
            }),
            0);
}

}  // namespace
}  // namespace penstock
