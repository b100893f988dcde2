// SPDX-License-Identifier: MIT
// The system clock is set to other years, back, and stands still (programs/clocks.cpp): no record is lost, and nothing waits for it.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "tests/engine/running.hpp"

namespace penstock {
namespace {

struct Clocks : ::testing::TestWithParam<const char*> {
  testing::temp_folder folder;
};
INSTANTIATE_TEST_SUITE_P(Of, Clocks, ::testing::Values("tsc", "system", "stands"),
                         [](const auto& chosen) { return std::string(chosen.param); });

TEST_P(Clocks, ThatAreSetOrStandStillHoldNothingUp) {
  const std::string log = (folder / "log").string();
  const std::string command = std::string("TZ=UTC timeout 240 '" PENSTOCK_CLOCKS "' ") + GetParam() + " '" + log + "' >'" +
                              (folder / "count").string() + "' 2>'" + (folder / "errors").string() + "'";
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0) << testing::text_of(folder / "errors");
  int next = 0;
  int notes = 0;
  for (const std::string& line : testing::lines_of(testing::text_of(log))) {
    if (const std::size_t at = line.find(" n="); at != std::string::npos)
      ASSERT_EQ(std::atoi(line.c_str() + at + 3), next++) << line;
    else
      notes += line.find("penstock: the system clock was set") != std::string::npos;
  }
  EXPECT_EQ(next, std::atoi(testing::text_of(folder / "count").c_str()));
  // Whoever asks that clock itself has nothing to compare it with.
  if (std::string_view(GetParam()) == "tsc")
    EXPECT_GE(notes, 3) << "the log says that the clock was set";
  else
    EXPECT_EQ(notes, 0);
}

}  // namespace
}  // namespace penstock
