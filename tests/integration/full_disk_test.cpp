// SPDX-License-Identifier: MIT
// A disk that is full, and has room again, under the whole library: nothing hangs, no half line stays, every record is accounted for.
#include <sched.h>
#include <sys/mount.h>

#include <atomic>
#include <fstream>
#include <map>
#include <thread>

#include "tests/engine/running.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/process.hpp"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int no_mount_here = 77;

// In a mount namespace of its own, which goes with the child that made it.
bool mount_two_mebibytes(const fs::path& folder) {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("penstock_test", folder.c_str(), "tmpfs", 0, "size=2m") == 0;
}

struct Case {
  const char* type;
  overflow_policy overflow;
};
void PrintTo(const Case& of, std::ostream* out) { *out << of.type; }

struct FullDisk : testing::Running, ::testing::WithParamInterface<Case> {
  config on_full_disk() {
    config made = settings(GetParam().type);
    made.backend.memory = std::size_t{1} << 20;
    made.backend.overflow = GetParam().overflow;
    made.backend.keep_level = level::off;
    return made;
  }

  // Every line is whole, and the numbers rise. Gives the number of lines.
  static long whole_lines(const std::string& text, const std::string& filler) {
    long count = 0;
    long last = -1;
    for (const std::string& line : records_of(text)) {
      const long n = std::strtol(line.c_str(), nullptr, 10);
      if (line != std::to_string(n) + filler || n <= last) return -1;
      last = n;
      ++count;
    }
    return count;
  }

  int fill_and_go_on() {
    if (!mount_two_mebibytes(folder.path())) return no_mount_here;
    std::ofstream(folder / "hog") << std::string(1'000'000, 'h');
    static std::atomic<int> told{0};
    on_error([](const error_report& what) noexcept {
      if (what.code == errc::no_space) ++told;
    });
    start(on_full_disk());
    const std::string filler(100, 'x');
    std::atomic<bool> done{false};
    std::thread thread([&] {
      for (int i = 0; i < 20'000; ++i) PENSTOCK_INFO("{}{}", i, filler);
      done = true;
    });
    while (told == 0) std::this_thread::yield();
    fs::remove(folder / "hog");
    // As logrotate's copytruncate does it.
    thread.join();
    static_cast<void>(flush(3s));
    const front_stats before_room = front();
    fs::resize_file(log(), 0);
    if (!flush(testing::patience)) return 2;
    const stats_snapshot now = stats();
    if (now.front.queued != 0 || now.sinks[0].held.total() != 0) return 4;
    if (now.sinks[0].taken.total() != now.sinks[0].written.total() + now.sinks[0].lost.total()) return 5;
    if (front().taken.total() + front().dropped_total() != 20'000 || before_room.accepted.total() != 20'000) return 6;
    PENSTOCK_INFO("20000{}", filler);
    if (!stop()) return 7;
    const std::string text = this->text();
    if (text.empty() || text.back() != '\n') return 8;
    if (text.find("20000" + filler + "\n") == std::string::npos) return 9;
    return 0;
  }

  // Enough room in the end: every line that was not dropped is there.
  int resume_when_hog_goes() {
    if (!mount_two_mebibytes(folder.path())) return no_mount_here;
    std::ofstream(folder / "hog") << std::string(1'800'000, 'h');
    static std::atomic<int> told{0};
    on_error([](const error_report&) noexcept { ++told; });
    start(on_full_disk());
    const std::string filler(100, 'x');
    std::thread thread([&] {
      for (int i = 0; i < 15'000; ++i) PENSTOCK_INFO("{}{}", i, filler);
    });
    while (told == 0) std::this_thread::yield();
    fs::remove(folder / "hog");
    thread.join();
    if (!flush(testing::patience)) return 2;
    const long lines = whole_lines(text(), filler);
    if (lines < 0) return 4;
    if (static_cast<std::uint64_t>(lines) + front().dropped_total() != 15'000) return 5;
    if (GetParam().overflow == overflow_policy::block && lines != 15'000) return 6;
    if (front().dropped_total() != 0 && text().find("records dropped (info ") == std::string::npos) return 7;
    return stop() ? 0 : 8;
  }
};
INSTANTIATE_TEST_SUITE_P(Under, FullDisk,
                         ::testing::Values(Case{"write", overflow_policy::block}, Case{"write", overflow_policy::drop},
                                           Case{"pwrite", overflow_policy::block}, Case{"pwrite", overflow_policy::drop},
                                           Case{"io_uring", overflow_policy::block}, Case{"io_uring", overflow_policy::drop},
                                           Case{"stdio", overflow_policy::block}, Case{"stdio", overflow_policy::drop}),
                         [](const auto& of) {
                           return std::string(of.param.type) + (of.param.overflow == overflow_policy::block ? "Block" : "Drop");
                         });

TEST_P(FullDisk, IsWaitedOutAndEveryRecordIsThereOrCounted) {
  const int status = testing::status_of_child([this] {
    count_anew();
    return resume_when_hog_goes();
  });
  if (status == no_mount_here) GTEST_SKIP() << "no mount namespace without privileges";
  EXPECT_EQ(status, 0);
}

// Only `write` shares its file with whoever truncates it.
struct FullDiskOfAppends : FullDisk {};
INSTANTIATE_TEST_SUITE_P(Under, FullDiskOfAppends, ::testing::Values(Case{"write", overflow_policy::block}));

TEST_P(FullDiskOfAppends, ThatIsEmptiedByTruncationGoesOnWithWholeLines) {
  const int status = testing::status_of_child([this] {
    count_anew();
    return fill_and_go_on();
  });
  if (status == no_mount_here) GTEST_SKIP() << "no mount namespace without privileges";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace penstock
