// SPDX-License-Identifier: MIT
#include "bench/suites/scratch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

namespace penstock::bench {
namespace {

constexpr std::array watched{SIGINT, SIGTERM, SIGHUP};
constexpr std::size_t path_bytes_max = 4096;

std::atomic<int> signals_seen{0};  // Read by other threads too.
static_assert(std::atomic<int>::is_always_lock_free, "written by a signal handler");
std::array<struct sigaction, watched.size()> former_actions{};

// What the second signal removes. Plain arrays, since a signal handler may not touch anything that allocates.
char folder_path[path_bytes_max];
char target_path[path_bytes_max];
char source_path[path_bytes_max];
volatile std::sig_atomic_t folder_exists = 0;

extern "C" void on_signal(int number) {
  const bool again = signals_seen != 0;
  signals_seen = 1;
  if (!again) return;
  if (folder_exists != 0) {
    ::unlink(target_path);
    ::unlink(source_path);
    ::rmdir(folder_path);
  }
  ::_exit(128 + number);
}

void remember(char (&into)[path_bytes_max], const std::filesystem::path& path) {
  const std::string text = path.string();
  if (text.size() >= path_bytes_max) throw std::runtime_error("the path is too long: " + text);
  std::memcpy(into, text.c_str(), text.size() + 1);
}

}  // namespace

bool interrupted() noexcept { return signals_seen != 0; }

interrupt_watch::interrupt_watch() {
  signals_seen = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < watched.size(); ++i) ::sigaction(watched[i], &action, &former_actions[i]);
}

interrupt_watch::~interrupt_watch() {
  for (std::size_t i = 0; i < watched.size(); ++i) ::sigaction(watched[i], &former_actions[i], nullptr);
  signals_seen = 0;
}

scratch_folder::scratch_folder(const std::filesystem::path& parent) {
  // Absolute, since the handler of the second signal may run in another working folder than the one the user meant.
  std::string pattern = (std::filesystem::absolute(parent) / "penstock-bench-XXXXXX").lexically_normal().string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(),
                            "cannot make a working folder in " + parent.string() + " (choose another with --dir)");
  }
  path_ = pattern;
  remember(folder_path, path_);
  remember(target_path, target());
  remember(source_path, source());
  folder_exists = 1;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  folder_exists = 0;
}

void require_space(const std::filesystem::path& dir, std::uintmax_t bytes, const char* what_for) {
  const std::filesystem::space_info space = std::filesystem::space(dir);
  if (space.available >= bytes) return;
  throw std::runtime_error(fmt::format("{} has {} MB free and {} needs {} MB; free some, or choose another folder with --dir", dir.string(),
                                       space.available / 1'000'000, what_for, bytes / 1'000'000));
}

}  // namespace penstock::bench
