// SPDX-License-Identifier: MIT
#include "bench/latency/contender.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "bench/latency/penstock_peer.hpp"
#include "lib/os/file.hpp"

extern char** environ;

namespace penstock::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view peer_prefix = "penstock-bench-";
constexpr int describe_seconds = 10;

struct child_output {
  std::string text{};
  std::string problem{};
};

class file_actions {
 public:
  file_actions() { ::posix_spawn_file_actions_init(&actions_); }
  ~file_actions() { ::posix_spawn_file_actions_destroy(&actions_); }
  file_actions(const file_actions&) = delete;
  file_actions& operator=(const file_actions&) = delete;
  posix_spawn_file_actions_t* get() noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Reads to the end of the pipe; false once the deadline has passed.
bool read_all(int fd, int time_limit_seconds, std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(time_limit_seconds);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd entry{.fd = fd, .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, static_cast<int>(left.count())) <= 0) continue;
    char block[4096];
    const ssize_t got = ::read(fd, block, sizeof block);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return true;
    text.append(block, static_cast<std::size_t>(got));
  }
}

std::string end_text(int status) {
  if (WIFSIGNALED(status)) return fmt::format("ended by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  return fmt::format("ended with status {}", WEXITSTATUS(status));
}

/// What the program writes to descriptor 3. It works in `folder`, since some loggers make files before they are asked to; what they print
/// is not ours.
child_output output_of(const std::vector<std::string>& words, const fs::path& folder, int time_limit_seconds) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
  const os::descriptor read_end(ends[0]);
  os::descriptor write_end(ends[1]);
  file_actions actions;
  ::posix_spawn_file_actions_addchdir_np(actions.get(), folder.c_str());
  ::posix_spawn_file_actions_addopen(actions.get(), STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  // dup2() of a descriptor to itself would leave it close-on-exec, so that it must not be 3 already.
  os::descriptor other(::fcntl(write_end.get(), F_DUPFD_CLOEXEC, result_descriptor + 1));
  ::posix_spawn_file_actions_adddup2(actions.get(), other.get(), result_descriptor);
  std::vector<std::string> copies = words;
  std::vector<char*> arguments;
  arguments.reserve(copies.size() + 1);
  for (std::string& word : copies) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error = ::posix_spawn(&child, words[0].c_str(), actions.get(), nullptr, arguments.data(), environ); error != 0)
    return {.problem = "cannot run " + words[0] + ": " + std::generic_category().message(error)};
  write_end.reset();
  other.reset();
  child_output output;
  const bool in_time = read_all(read_end.get(), time_limit_seconds, output.text);
  if (!in_time) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time)
    output.problem = fmt::format("did not end within {} s", time_limit_seconds);
  else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    output.problem = end_text(status);
  return output;
}

fs::path own_program() { return fs::read_symlink("/proc/self/exe"); }

std::vector<fs::path> peer_programs() {
  const fs::path own_folder = own_program().parent_path();
  std::vector<fs::path> programs;
  for (const fs::path& folder : {own_folder, own_folder.parent_path() / "libexec" / "penstock"}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
      if (entry.path().filename().string().starts_with(peer_prefix) && ::access(entry.path().c_str(), X_OK) == 0 && entry.is_regular_file())
        programs.push_back(entry.path());
    }
  }
  std::sort(programs.begin(), programs.end(), [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  return programs;
}

format_mode mode_from(const std::string& name) {
  if (name == "auto") return format_mode::automatic;
  if (name == "caller") return format_mode::caller;
  if (name == "backend") return format_mode::backend;
  throw std::invalid_argument("there is no format mode " + name + "; there are auto, caller and backend");
}

}  // namespace

std::vector<contender> find_contenders(const std::vector<std::string>& modes, const fs::path& folder) {
  std::vector<contender> found;
  found.reserve(modes.size());
  for (const std::string& mode : modes) {
    found.push_back({.id = "penstock",
                     .name = "Penstock " + mode,
                     .settings = "format " + mode + ", sink write, all else by default",
                     .program = {own_program().string(), "bench", "logger", "--one", mode, "--"}});
  }
  for (const fs::path& program : peer_programs()) {
    const child_output described = output_of({program.string(), "--describe"}, folder, describe_seconds);
    const std::size_t line_end = described.text.find('\n');
    if (!described.problem.empty() || line_end == std::string::npos) continue;
    found.push_back({.id = program.filename().string().substr(peer_prefix.size()),
                     .name = described.text.substr(0, line_end),
                     .settings = described.text.substr(line_end + 1, described.text.find('\n', line_end + 1) - line_end - 1),
                     .program = {program.string()}});
  }
  return found;
}

child_result run_child(const contender& who, const workload& of, const fs::path& file, int time_limit_seconds) {
  fs::remove(file);
  std::vector<std::string> words = who.program;
  for (std::string& word : words_of(of, file)) words.push_back(std::move(word));
  const child_output output = output_of(words, file.parent_path(), time_limit_seconds);
  if (!output.problem.empty()) return {.problem = output.problem};
  child_result result{.figures = figures_from(output.text)};
  if (!result.figures.contains("lines_found")) result.problem = "gave no figures";
  return result;
}

int run_penstock(const std::string& mode, const std::vector<std::string>& words) {
  penstock_peer peer(mode_from(mode));
  return run_one(peer, words);
}

}  // namespace penstock::bench
