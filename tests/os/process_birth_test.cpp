// SPDX-License-Identifier: MIT
#include "lib/os/process_birth.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace penstock::testing {
namespace {

TEST(ProcessBirth, TellsALivingProcessFromALaterOneOfTheSamePid) {
  const std::uint64_t birth = os::process_birth(::getpid());
  EXPECT_NE(birth, 0U);
  EXPECT_EQ(birth, os::process_birth(::getpid()));
  EXPECT_TRUE(os::process_lives(::getpid(), birth));
  EXPECT_TRUE(os::process_lives(::getpid(), 0));
  EXPECT_FALSE(os::process_lives(::getpid(), birth + 2));
}

TEST(ProcessBirth, TakesAZombieAndAGoneProcessForDead) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(os::process_lives(child, 0));
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(os::process_lives(child, 0));
  EXPECT_FALSE(os::process_lives(0, 0));
  EXPECT_FALSE(os::process_lives(-1, 0));
}

}  // namespace
}  // namespace penstock::testing
