// SPDX-License-Identifier: MIT
// The hot path as the compilers make it: from the reading of the counter to the return there is a way without a call, a locked instruction
// or a fence; and the stream pointer costs no call in a shared object.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_folder.hpp"

namespace penstock {
namespace {

struct compilation {
  const char* name;
  const char* file;
};
void PrintTo(const compilation& of, std::ostream* out) { *out << of.name; }

/// One function of an assembler text.
class assembler_function {
 public:
  assembler_function(const std::string& text, const std::string& name) {
    std::istringstream in(text);
    bool inside = false;
    for (std::string line; std::getline(in, line);) {
      if (line == name + ":" || line.rfind(name + ":", 0) == 0) inside = true;
      if (!inside) continue;
      if (line.find(".size\t" + name) != std::string::npos) break;
      add(line);
    }
  }

  bool found() const { return !lines_.empty(); }

  bool mentions(const std::regex& what) const {
    for (const std::string& line : lines_)
      if (std::regex_search(line, what)) return true;
    return false;
  }

  /// Whether a way leads from the entry over `rdtsc` to a return without any instruction that is too dear.
  bool has_cheap_way() const {
    std::set<std::pair<std::size_t, bool>> seen;
    std::vector<std::pair<std::size_t, bool>> open{{0, false}};
    while (!open.empty()) {
      auto [at, timed] = open.back();
      open.pop_back();
      if (at >= lines_.size() || !seen.emplace(at, timed).second) continue;
      const std::string& line = lines_[at];
      static const std::regex dear(R"(^\s*(call\w*|lock|xchg\w*|mfence|lfence|sfence|cpuid|rdtscp|syscall|ud2)\b)");
      static const std::regex jump(R"(^\s*(j\w+)\s+(\S+))");
      if (std::regex_search(line, dear)) continue;
      if (line.find("\trdtsc") != std::string::npos) timed = true;
      if (std::regex_search(line, std::regex(R"(^\s*(rep )?ret)"))) {
        if (timed) return true;
        continue;
      }
      std::smatch found;
      if (std::regex_search(line, found, jump)) {
        if (const auto target = labels_.find(found[2]); target != labels_.end()) open.emplace_back(target->second, timed);
        if (found[1] == "jmp" || found[1] == "jmpq") continue;  // A jump out of the function is a call.
      }
      open.emplace_back(at + 1, timed);
    }
    return false;
  }

 private:
  void add(const std::string& line) {
    if (!line.empty() && line[0] != '\t' && line.find(':') != std::string::npos) {
      labels_[line.substr(0, line.find(':'))] = lines_.size();
      return;
    }
    // Directives and comments; both compilers begin instructions with a tab and a letter.
    if (line.size() < 2 || line[0] != '\t' || line[1] == '.' || line[1] == '#') return;
    lines_.push_back(line);
  }

  std::vector<std::string> lines_;
  std::map<std::string, std::size_t> labels_;
};

struct HotPath : ::testing::TestWithParam<compilation> {
  void SetUp() override {
#if !defined(__x86_64__)
    GTEST_SKIP() << "the assembler of x86-64 is read";
#endif
    text = testing::text_of(std::string(PENSTOCK_ASSEMBLER) + GetParam().file + ".s");
    if (text.empty()) GTEST_SKIP() << "this compiler is not here";
  }
  assembler_function function(const char* name) const { return {text, name}; }

  std::string text;
};
INSTANTIATE_TEST_SUITE_P(Of, HotPath,
                         ::testing::Values(compilation{"Gxx", "GXX"}, compilation{"GxxPic", "GXX-fPIC"}, compilation{"Clangxx", "CLANGXX"},
                                           compilation{"ClangxxPic", "CLANGXX-fPIC"}),
                         [](const auto& of) { return std::string(of.param.name); });

TEST_P(HotPath, HasNoCallNoLockAndNoFenceFromTheCounterToTheReturn) {
  for (const char* name : {"int_and_double", "by_logger", "without_arguments"}) {
    ASSERT_TRUE(function(name).found()) << name;
    EXPECT_TRUE(function(name).has_cheap_way()) << name;
  }
  EXPECT_FALSE(function("calls_always").has_cheap_way()) << "this test can no longer fail";
}

TEST_P(HotPath, FindsTheStreamWithoutACallAlsoInASharedObject) {
  ASSERT_TRUE(function("int_and_double").found());
  EXPECT_EQ(text.find("__tls_get_addr"), std::string::npos);
  EXPECT_EQ(text.find("tlsdesc"), std::string::npos);
  EXPECT_TRUE(function("int_and_double").mentions(std::regex("current_stream\\w*@(gottpoff|GOTTPOFF)")));
}

TEST_P(HotPath, TakesNoLockedInstructionAnywhereInTheStatement) {
  for (const char* name : {"int_and_double", "by_logger", "without_arguments", "with_literal"})
    EXPECT_FALSE(function(name).mentions(std::regex(R"(^\s*(lock|xchg\w*|mfence)\b)"))) << name;
}

TEST_P(HotPath, KeepsAStatementSmall) {
  // What the fast path of two arguments took when this was written, and a third more.
  std::istringstream in(text);
  bool inside = false;
  int count = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("int_and_double:", 0) == 0) inside = true;
    if (line.find(".size\tint_and_double") != std::string::npos) break;
    if (inside && line.size() > 1 && line[0] == '\t' && line[1] != '.' && line[1] != '#') ++count;
  }
  EXPECT_GT(count, 20);
  EXPECT_LT(count, 130);
}

}  // namespace
}  // namespace penstock
