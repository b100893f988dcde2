// SPDX-License-Identifier: MIT
// Calls the built tool by the shell in a folder of its own, and gives what it printed.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/temp_folder.hpp"

namespace penstock::testing {

struct tool_result {
  int status = -1;
  std::string out{};
  std::string err{};
};

/// `arguments` as a shell takes them.
inline tool_result call_tool(const temp_folder& in, const std::string& arguments) {
  const std::string command = "cd '" + in.path().string() + "' && '" PENSTOCK_TOOL_FILE "' " + arguments + " >out.txt 2>err.txt";
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c,concurrency-mt-unsafe): tests run one by one.
  return {.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1, .out = text_of(in / "out.txt"), .err = text_of(in / "err.txt")};
}

}  // namespace penstock::testing
