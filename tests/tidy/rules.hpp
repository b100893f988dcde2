// SPDX-License-Identifier: MIT
// The house rules that a program can check. Each rule looks at one file's text, or at all includes, and says what is wrong and what to do.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tidy {

/// Files of the tree by path from its top, such as "lib/os/file.hpp".
using tree = std::map<std::string, std::string, std::less<>>;

/// What is wrong: "path:line: what, and the remedy".
using findings = std::vector<std::string>;

struct limits {
  std::size_t file_lines_max;
  std::size_t line_columns_max;
};

/// 400 lines a file and 500 a test; 140 columns.
limits limits_of(std::string_view path);

/// C++ sources and headers, CMake files, scripts: what carries the licence line.
bool is_source(std::string_view path);

void check_licence_line(std::string_view path, std::string_view text, findings& out);
void check_size(std::string_view path, std::string_view text, findings& out);
void check_no_machine_paths(std::string_view path, std::string_view text, findings& out);
void check_banned_words(std::string_view path, std::string_view text, findings& out);

/// A header that is installed defines no macro but PENSTOCK_..., and others only where a PENSTOCK_... macro asks for them.
void check_macro_names(std::string_view path, std::string_view text, findings& out);

/// The headers of ours that a file includes, as paths from the top of the tree: <penstock/log.hpp> is "include/penstock/log.hpp".
struct inclusion {
  std::string target{};
  std::size_t line = 0;
};
std::vector<inclusion> inclusions_of(std::string_view path, std::string_view text);

/// Whether `from` may include `to`, by the table of edges between folders.
bool may_include(std::string_view from, std::string_view to);

void check_edges(const tree& files, findings& out);
void check_cycles(const tree& files, findings& out);

/// Links from one page to another file of the tree lead somewhere.
void check_links(const tree& files, findings& out);

/// All rules over all files.
findings check(const tree& files);

}  // namespace tidy
