// SPDX-License-Identifier: MIT
// What the README shows is what the repository holds and what a user sees.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "tests/support/temp_folder.hpp"

namespace {

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The text between the first "```<language>" of the README and the next "```".
std::string shown(std::string_view language) {
  const std::string page = read(PENSTOCK_SOURCE_DIR "/README.md");
  const std::string mark = "```" + std::string(language) + "\n";
  const std::size_t begin = page.find(mark);
  if (begin == std::string::npos) return {};
  return page.substr(begin + mark.size(), page.find("```", begin + mark.size()) - begin - mark.size());
}

/// Times, thread numbers and time zones differ from run to run: each run of digits becomes one #, and both signs of an offset a +.
std::string without_numbers(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
      result += c;
    } else if (!result.ends_with('#')) {
      result += '#';
    }
  }
  for (std::size_t at = result.find("#-#:#"); at != std::string::npos; at = result.find("#-#:#")) result[at + 1] = '+';
  return result;
}

struct run_result {
  std::string output{};
  std::string file{};  // what the example left in service.log
  int status = -1;
};

run_result run_example(const std::string& name) {
  const penstock::testing::temp_folder folder;
  const std::string command = "cd '" + folder.path().string() + "' && '" PENSTOCK_EXAMPLES_DIR "/example_" + name + "' 2>&1";
  run_result result;
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  char part[4096];
  for (std::size_t got; (got = std::fread(part, 1, sizeof part, pipe)) > 0;) result.output.append(part, got);
  result.status = pclose(pipe);
  result.file = read(folder / "service.log");
  return result;
}

TEST(Readme, ShowsTheExampleAsItIs) {
  const std::string source = read(PENSTOCK_SOURCE_DIR "/examples/service.cpp");
  ASSERT_FALSE(source.empty());
  EXPECT_EQ(shown("cpp"), source.substr(source.find('\n') + 1));
}

TEST(Readme, ShowsWhatTheExamplePrints) {
  const run_result run = run_example("service");
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(without_numbers(shown("text")), without_numbers(run.output));
}

TEST(Readme, ExampleLeavesTheSameLinesInItsFile) {
  const run_result run = run_example("service");
  ASSERT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(run.file, run.output);
}

}  // namespace
