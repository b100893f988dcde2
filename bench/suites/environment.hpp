// SPDX-License-Identifier: MIT
// Where a result was measured: without it no figure means anything.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace penstock::bench {

struct fact {
  std::string name;
  std::string value;
};

/// CPU, memory, kernel, file system and mount options of `dir`, versions, date, command; in this order.
std::vector<fact> environment_of(const std::filesystem::path& dir);

/// The command line of this process, as one line that can be pasted into a shell.
std::string command_line();

/// A word as a shell would have to be given it.
std::string shell_word(const std::string& word);

}  // namespace penstock::bench
