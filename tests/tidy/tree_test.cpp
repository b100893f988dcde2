// SPDX-License-Identifier: MIT
// The rules over this very tree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/tidy/rules.hpp"

namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What belongs to the project; build folders and what a developer leaves lying about do not.
tidy::tree read_tree(const fs::path& top) {
  tidy::tree files;
  const auto add = [&](const fs::path& file) {
    if (file.extension() != ".log") files[file.lexically_relative(top).generic_string()] = read(file);
  };
  for (const char* folder : {"include", "lib", "sinks", "bench", "tests", "examples", "cmake", "docs", ".ci"}) {
    if (!fs::exists(top / folder)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
      if (entry.is_regular_file()) add(entry.path());
    }
  }
  for (const auto& entry : fs::directory_iterator(top)) {
    if (entry.is_regular_file()) add(entry.path());
  }
  return files;
}

TEST(TidyTree, KeepsTheHouseRules) {
  const tidy::tree files = read_tree(PENSTOCK_SOURCE_DIR);
  ASSERT_TRUE(files.contains("include/penstock/config.hpp")) << "not the project's folder: " PENSTOCK_SOURCE_DIR;
  std::string told;
  for (const std::string& finding : tidy::check(files)) told += finding + "\n";
  EXPECT_EQ(told, "");
}

}  // namespace
