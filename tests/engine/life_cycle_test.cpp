// SPDX-License-Identifier: MIT
// How programs begin and end: each scenario in a process of its own (programs/scenario.cpp).
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "tests/engine/running.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/sanitizers.hpp"

namespace penstock {
namespace {

struct LifeCycle : ::testing::Test {
  /// The exit status of a scenario, 124 if it hangs.
  int run(const std::string& scenario, const std::string& type = "write", const std::string& before = "", const std::string& behind = "") {
    const auto seconds = std::to_string(std::chrono::seconds(testing::patience).count());
    const std::string command = "cd '" + folder.path().string() + "' && " + before + " timeout " + seconds + " '" PENSTOCK_SCENARIO "' " +
                                scenario + " " + type + " '" + log().string() + "' " + behind + " 2>'" + (folder / "errors").string() + "'";
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::filesystem::path log() const { return folder / "log"; }
  std::string errors() const { return testing::text_of(folder / "errors"); }
  std::vector<std::string> lines() const { return testing::lines_of(testing::text_of(log())); }

  /// Every "p=<thread> n=<number>" line is there once and in order. Gives the number for each thread.
  static std::map<int, long> count_in_order(const std::vector<std::string>& lines) {
    std::map<int, long> next;
    for (const std::string& line : lines) {
      int p = 0;
      long n = 0;
      int end = 0;
      if (std::sscanf(line.c_str(), "p=%d n=%ld%n", &p, &n, &end) != 2) continue;
      EXPECT_EQ(static_cast<std::size_t>(end), line.size()) << line;
      EXPECT_EQ(n, next[p]) << "thread " << p;
      next[p] = n + 1;
    }
    return next;
  }

  testing::temp_folder folder;
};

TEST_F(LifeCycle, WritesWhatStaticDestructorsLog) {
  ASSERT_EQ(run("statics"), 0);
  std::vector<std::string> found = lines();
  ASSERT_EQ(found.size(), 8U);
  EXPECT_EQ(found[0], "main");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(std::count(found.begin(), found.end(), "late static " + std::to_string(i)), 1);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(std::count(found.begin(), found.end(), "early static " + std::to_string(i)), 1);
  EXPECT_EQ(errors(), "");
}

TEST_F(LifeCycle, WritesWhatStaticDestructorsLogWithoutAnyStart) {
  ASSERT_EQ(run("statics_without_start"), 0);
  EXPECT_EQ(testing::lines_of(errors()).size(), 8U) << errors();
}

TEST_F(LifeCycle, WritesWhatThreadLocalDestructorsLog) {
  ASSERT_EQ(run("thread_locals"), 0);
  const std::vector<std::string> found = lines();
  EXPECT_EQ(std::count(found.begin(), found.end(), "thread_local of a thread"), 1);
  EXPECT_EQ(std::count(found.begin(), found.end(), "thread_local of main"), 1);
  EXPECT_EQ(found.size(), 4U);
}

TEST_F(LifeCycle, DrainsEverythingAtExitWithoutStop) {
  for (const char* type : {"write", "pwrite", "io_uring", "stdio"}) {
    std::filesystem::remove(log());
    ASSERT_EQ(run("exit_without_stop", type), 0) << type;
    const auto count = count_in_order(lines());
    ASSERT_EQ(count.size(), 8U) << type;
    for (const auto& [thread, records] : count) EXPECT_EQ(records, 2'000) << type << ", thread " << thread;
  }
  std::filesystem::remove(log());
  ASSERT_EQ(run("exit_by_call"), 7);
  EXPECT_EQ(lines().size(), 16'000U);
}

// A signal that reaches libc in a write makes it throw the buffer of a stream away: every second write is interrupted here.
TEST_F(LifeCycle, LosesNothingToInterruptedWrites) {
  if (std::system("strace -o /dev/null true 2>/dev/null") != 0) GTEST_SKIP() << "SKIPPED: strace cannot be used here";
  for (const auto& [type, call] : {std::pair{"stdio", "write"}, std::pair{"write", "write"}, std::pair{"pwrite", "pwrite64"}}) {
    std::filesystem::remove(log());
    // The leak check stops other threads by the means that strace uses already.
    const std::string strace =
        std::string("ASAN_OPTIONS=detect_leaks=0 strace -f -o calls -e trace=") + call + " -e inject=" + call + ":error=EINTR:when=1+2";
    ASSERT_EQ(run("exit_without_stop", type, strace), 0) << type << errors();
    const std::string calls = testing::text_of(folder / "calls");
    EXPECT_NE(calls.find("EINTR (Interrupted system call) (INJECTED)"), std::string::npos) << type << ": nothing was interrupted";
    const auto count = count_in_order(lines());
    ASSERT_EQ(count.size(), 8U) << type;
    for (const auto& [thread, records] : count) EXPECT_EQ(records, 2'000) << type << ", thread " << thread;
  }
}

TEST_F(LifeCycle, LosesNothingThatWasFlushedBeforeExitAtOnce) {
  for (const char* type : {"write", "pwrite", "io_uring", "stdio"}) {
    std::filesystem::remove(log());
    ASSERT_EQ(run("flush_then_exit_at_once", type), 0) << type;
    const auto count = count_in_order(lines());
    ASSERT_EQ(count.size(), 8U) << type;
    for (const auto& [thread, records] : count) EXPECT_EQ(records, 2'000) << type << ", thread " << thread;
  }
}

TEST_F(LifeCycle, EndsWhileThreadsThatNeverStopLogging) {
  for (int i = 0; i < 5; ++i) {
    std::filesystem::remove(log());
    ASSERT_EQ(run("detached"), 0) << errors();
    count_in_order(lines());
  }
}

TEST_F(LifeCycle, WritesRecordsAfterStopByTheirOwnThreads) {
  for (const char* type : {"write", "pwrite", "io_uring", "stdio"}) {
    std::filesystem::remove(log());
    ASSERT_EQ(run("after_stop", type), 0) << type << errors();
    const auto count = count_in_order(lines());
    ASSERT_EQ(count.size(), 4U) << type;
    for (const auto& [thread, records] : count) EXPECT_EQ(records, 1'000) << type << ", thread " << thread;
    const std::vector<std::string> found = lines();
    EXPECT_EQ(found.front(), "before");
    EXPECT_EQ(found.back(), "started anew");
    EXPECT_EQ(found[found.size() - 2], "last 1");
  }
}

TEST_F(LifeCycle, StartsOnTheConsoleWithTheFirstRecord) {
  ASSERT_EQ(run("implicit"), 0);
  const auto found = testing::lines_of(errors());
  ASSERT_EQ(found.size(), 2U) << errors();
  EXPECT_NE(found[0].find("first 1"), std::string::npos);
  EXPECT_NE(found[1].find("warning"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(log()));
}

TEST_F(LifeCycle, StartsByTheFileThatTheEnvironmentNames) {
  testing::write_text(folder / "c.toml",
                      "[sinks.a]\ntype = \"write\"\npath = \"from_file\"\npattern = \"{message}\"\n"
                      "[loggers.root]\nlevel = \"warning\"\n");
  ASSERT_EQ(run("implicit", "write", "PENSTOCK_CONFIG=c.toml"), 0);
  EXPECT_EQ(testing::text_of(folder / "from_file"), "second\n");
  EXPECT_EQ(errors(), "");
}

TEST_F(LifeCycle, ReportsABadFileOnceAndGoesOnWithTheDefaults) {
  testing::write_text(folder / "c.toml", "[sinks.a]\ntype = \"null\"\ntipe = \"write\"\n");
  ASSERT_EQ(run("implicit", "write", "PENSTOCK_CONFIG=c.toml"), 0);
  auto found = testing::lines_of(errors());
  ASSERT_EQ(found.size(), 3U) << errors();
  EXPECT_NE(found[0].find("c.toml:3:"), std::string::npos);
  EXPECT_NE(found[0].find("tipe"), std::string::npos) << errors();
  EXPECT_NE(found[1].find("first 1"), std::string::npos);
  ASSERT_EQ(run("implicit", "write", "PENSTOCK_CONFIG=nowhere.toml"), 0);
  found = testing::lines_of(errors());
  ASSERT_EQ(found.size(), 3U) << errors();
  EXPECT_NE(found[0].find("nowhere.toml"), std::string::npos);
}

TEST_F(LifeCycle, ReplacesAnImplicitStartAndRefusesASecondExplicitOne) {
  ASSERT_EQ(run("implicit_then_explicit"), 0) << errors();
  EXPECT_EQ(testing::text_of(log()), "explicit\nunchanged\n");
  EXPECT_NE(errors().find("implicit"), std::string::npos);
}

TEST_F(LifeCycle, StartsAndStopsManyTimes) {
  ASSERT_EQ(run("stop_again_and_again"), 0);
  const std::vector<std::string> found = lines();
  ASSERT_EQ(found.size(), 200U);
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(found[2 * i], "run " + std::to_string(i));
    EXPECT_EQ(found[2 * i + 1], "after run " + std::to_string(i));
  }
}

TEST_F(LifeCycle, ForksUnderLoadAndWritesTheParentsRecordsOnce) {
  if (testing::under_tsan) GTEST_SKIP() << "SKIPPED: " << testing::tsan_and_forks;
  if (testing::under_asan)
    GTEST_SKIP()
        << "SKIPPED: the address sanitizers of g++ 12 and clang 14 do not lock their allocator around fork(): the new backend thread "
           "of a child waits for ever in GetFromAllocator() for a thread that was allocating in the parent";
  for (const char* type : {"write", "pwrite", "io_uring", "stdio", "mmap_ring"}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) std::filesystem::remove(entry.path());
    const std::size_t forks = type == std::string("write") ? 100 : 25;
    ASSERT_EQ(run("fork_under_load", type, "", std::to_string(forks)), 0) << type << ": " << errors();
    std::set<std::string> children;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
      for (const std::string& line : testing::lines_of(testing::text_of(entry.path())))
        if (const auto at = line.find("child "); at != std::string::npos && (at == 0 || type == std::string("mmap_ring"))) {
          EXPECT_TRUE(children.insert(line.substr(at)).second) << type << ": twice: " << line;
        }
    EXPECT_EQ(children.size(), forks) << type;
    if (type == std::string("mmap_ring")) continue;
    const auto found = lines();
    long sum = 0;
    for (const auto& [thread, records] : count_in_order(found)) sum += records;
    const auto total = std::find_if(found.begin(), found.end(), [](const std::string& line) { return line.rfind("total ", 0) == 0; });
    ASSERT_NE(total, found.end()) << type;
    EXPECT_EQ(*total, "total " + std::to_string(sum)) << type;
  }
}

TEST_F(LifeCycle, StopsForksAndStartsOnBothSides) {
  ASSERT_EQ(run("stop_fork_start"), 0) << errors();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(testing::text_of(folder / ("log." + std::to_string(i))), "child " + std::to_string(i) + "\n");
  EXPECT_EQ(lines().size(), 100U);
}

TEST_F(LifeCycle, NeverWaitsInAChildForAThreadThatIsNotThere) {
  ASSERT_EQ(run("child_that_never_logs"), 0) << errors();
  EXPECT_EQ(testing::text_of(log()), "parent\n");
}

TEST_F(LifeCycle, WritesTheRecordsOfAModuleBeforeItIsUnloaded) {
  ASSERT_EQ(run("modules", "write", "", "'" PENSTOCK_MODULE_ONE "' '" PENSTOCK_MODULE_TWO "'"), 0) << errors();
  const auto found = lines();
  ASSERT_EQ(found.size(), 4'000U);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::string number = i / 100 % 2 == 0 ? "one" : "two";
    const std::string name = "module " + number;
    ASSERT_EQ(found[i], "module.cpp function_" + number + " from " + name + " " + std::to_string(i % 100) + " " + name);
  }
}

}  // namespace
}  // namespace penstock
