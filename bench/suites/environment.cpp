// SPDX-License-Identifier: MIT
#include "bench/suites/environment.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

namespace penstock::bench {
namespace {

// The value behind "name : " in the first matching line of a /proc file.
std::string proc_value(const char* file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.compare(0, name.size(), name) != 0) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return "unknown";
}

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string cpu() {
  std::string model = proc_value("/proc/cpuinfo", "model name");
  if (model == "unknown") model = proc_value("/proc/cpuinfo", "CPU implementer");  // aarch64 names no model
  std::string text = fmt::format("{}, {} cores online", model, ::sysconf(_SC_NPROCESSORS_ONLN));
  if (const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); !governor.empty())
    text += ", governor " + governor;
  return text;
}

// mountinfo: "id parent major:minor root mount-point options [tags...] - type source super-options" (man 5 proc).
std::string mount_of(const std::filesystem::path& dir) {
  const std::string where = std::filesystem::weakly_canonical(dir).string();
  std::ifstream in("/proc/self/mountinfo");
  std::string best = "unknown";
  std::size_t best_length = 0;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    const std::vector<std::string> fields{std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
    std::size_t dash = 6;
    while (dash < fields.size() && fields[dash] != "-") ++dash;
    if (dash + 3 >= fields.size()) continue;
    const std::string& point = fields[4];
    const bool inside = where == point || point == "/" || where.compare(0, point.size() + 1, point + "/") == 0;
    if (!inside || point.size() < best_length) continue;
    best_length = point.size();
    best = fmt::format("{} on {} ({}; {}), device {}", fields[dash + 1], point, fields[5], fields[dash + 3], fields[dash + 2]);
  }
  return best;
}

}  // namespace

std::string shell_word(const std::string& word) {
  if (!word.empty() &&
      word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+") == std::string::npos)
    return word;
  std::string out = "'";
  for (char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string command_line() {
  std::ifstream in("/proc/self/cmdline", std::ios::binary);
  std::string line;
  for (std::string word; std::getline(in, word, '\0');) {
    if (!line.empty()) line += ' ';
    line += line.empty() ? std::filesystem::path(word).filename().string() : shell_word(word);
  }
  return line;
}

std::vector<fact> environment_of(const std::filesystem::path& dir) {
  utsname system{};
  ::uname(&system);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return {
      {"CPU", cpu()},
      {"memory", proc_value("/proc/meminfo", "MemTotal")},
      {"kernel", fmt::format("{} {} {}", system.sysname, system.release, system.machine)},
      {"file system", mount_of(dir)},
      {"folder", std::filesystem::weakly_canonical(dir).string()},
      {"versions",
       fmt::format("penstock {} ({}, {}), glibc {}, fmt {}.{}.{}", PENSTOCK_VERSION_TEXT, PENSTOCK_COMPILER_TEXT, PENSTOCK_BUILD_TYPE_TEXT,
                   ::gnu_get_libc_version(), FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"date", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(now))},
      {"command", command_line()},
  };
}

}  // namespace penstock::bench
