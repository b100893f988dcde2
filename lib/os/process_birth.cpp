// SPDX-License-Identifier: MIT
#include "lib/os/process_birth.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <span>
#include <string_view>

namespace penstock::os {
namespace {

/// The first bytes of a small file; empty if it cannot be read.
std::string_view head_of(const char* path, std::span<char> buffer) noexcept {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  ssize_t got = 0;
  do {
    got = ::read(fd, buffer.data(), buffer.size());
  } while (got < 0 && errno == EINTR);
  ::close(fd);
  return {buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

/// FNV-1a, going on from `hash`.
std::uint64_t hash_on(std::uint64_t hash, std::string_view text) noexcept {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  return hash;
}

/// Field 22 of /proc/PID/stat, the start time in ticks since boot; empty for a zombie and for what cannot be read.
std::string_view start_ticks(std::string_view stat) noexcept {
  // Field 2, the name in brackets, may itself hold blanks and brackets: the last bracket ends it, and field 3 follows.
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string_view::npos || bracket + 2 >= stat.size()) return {};
  stat.remove_prefix(bracket + 2);
  if (stat.front() == 'Z' || stat.front() == 'X') return {};
  for (int field = 3; field < 22; ++field) {
    const std::size_t blank = stat.find(' ');
    if (blank == std::string_view::npos) return {};
    stat.remove_prefix(blank + 1);
  }
  return stat.substr(0, stat.find(' '));
}

}  // namespace

std::uint64_t process_birth(pid_t pid) noexcept {
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(pid));
  std::array<char, 1024> stat_buffer{};
  const std::string_view ticks = start_ticks(head_of(path.data(), stat_buffer));
  if (ticks.empty()) return 0;
  std::array<char, 64> boot_buffer{};
  const std::uint64_t boot = hash_on(0xCBF29CE484222325U, head_of("/proc/sys/kernel/random/boot_id", boot_buffer));
  return hash_on(boot, ticks) | 1U;
}

bool process_lives(pid_t pid, std::uint64_t birth) noexcept {
  if (pid <= 0) return false;
  const std::uint64_t now = process_birth(pid);
  if (now != 0) return birth == 0 || now == birth;
  // Gone, a zombie, or hidden: /proc may be mounted so that it shows only one's own processes, or not at all.
  if (::kill(pid, 0) != 0) return errno == EPERM;
  return ::access("/proc/self/stat", R_OK) != 0;
}

}  // namespace penstock::os
