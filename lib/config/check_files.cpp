// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>
#include <vector>

#include "lib/config/check.hpp"
#include "lib/config/key_table.hpp"
#include "lib/config/units.hpp"

namespace penstock::detail {
namespace {

namespace fs = std::filesystem;

struct user {
  std::string key_path;  // "sinks.app.path"
  fs::path file;
  bool built_in;
  position at;
};

/// All names under which the file could be met again: its path without detours, its path without links, its device and inode.
std::vector<std::string> identities(const fs::path& file) {
  std::vector<std::string> names;
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  const fs::path plain = (error ? file : absolute).lexically_normal();
  names.push_back(plain.string());
  const fs::path canonical = fs::weakly_canonical(plain, error);
  if (!error && canonical != plain) names.push_back(canonical.string());
  struct stat status {};
  // Of a device or a pipe the inode says nothing: two sinks may share a terminal under two names at their own risk, but not under one.
  if (::stat(plain.c_str(), &status) == 0 && S_ISREG(status.st_mode))
    names.push_back(fmt::format("inode {}:{}", status.st_dev, status.st_ino));
  return names;
}

void check_folder(const user& one, report& faults) {
  std::error_code error;
  if (one.file.filename().empty() || fs::is_directory(one.file, error))
    faults.add(one.key_path, fmt::format("{} is a folder; add the name of a file", in_quotes(one.file.string())));
}

}  // namespace

void check_files(const config& settings, report& faults) {
  std::vector<user> users;
  for (const auto& [name, sink] : settings.sinks) {
    const std::string key_path = path_to(path_to("sinks", name), "path");
    const bool built_in = bit_of_type(sink.type) != type_registered;
    if (sink.type == "null") continue;  // It opens nothing.
    if (!sink.path.empty() && !faults.faulty(key_path)) users.push_back({key_path, sink.path, built_in, faults.place_of(key_path)});
  }
  // The later one in the file is the one to blame.
  std::stable_sort(users.begin(), users.end(), [](const user& a, const user& b) { return a.at < b.at; });
  std::map<std::string, const user*> owners;
  for (const user& one : users) {
    if (one.built_in) check_folder(one, faults);
    for (const std::string& identity : identities(one.file)) {
      const auto [held, first] = owners.emplace(identity, &one);
      if (first || (!one.built_in && !held->second->built_in)) continue;
      faults.add(one.key_path,
                 fmt::format("{} is the file of {} already; two sinks cannot write one file: give this one its own, or name one sink in "
                             "several loggers",
                             in_quotes(one.file.string()), held->second->key_path));
    }
  }
}

}  // namespace penstock::detail
