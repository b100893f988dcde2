// SPDX-License-Identifier: MIT
// How do I see what a killed process did last, even by SIGKILL? By an mmap_ring sink: its lines stand in the file as soon as they are laid
// out, and the kernel keeps them when the process goes. `penstock ring cat black_box.ring` prints them, oldest first.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <penstock/penstock.hpp>

namespace {

[[noreturn]] void run_and_die() {
  penstock::config settings;
  settings.sinks["black_box"] = {.type = "mmap_ring", .path = "black_box.ring", .pattern = "{level} {message}", .size = 256 << 10};
  penstock::start(settings);
  // The ring keeps the newest lines, whatever is written in all.
  for (int i = 0; i < 100'000; ++i) PENSTOCK_INFO("step {}", i);
  PENSTOCK_INFO("last words");
  penstock::flush();  // costs the ring no system call; without it, up to one flush_interval may still be on its way
  ::raise(SIGKILL);
  ::_exit(1);
}

}  // namespace

int main() {
  std::filesystem::remove("black_box.ring");
  const pid_t child = ::fork();
  if (child == 0) run_and_die();
  int status = 0;
  ::waitpid(child, &status, 0);
  std::printf("killed by signal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : 0);

  // The lines are plain text between the headers of the frames: grep -a finds them too.
  std::ifstream file("black_box.ring", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::printf("the file of %zu bytes has %s\n", bytes.size(),
              bytes.find("info last words\n") != std::string::npos ? "the last line" : "nothing");
}

//> killed by signal 9
//> the file of 262144 bytes has the last line
