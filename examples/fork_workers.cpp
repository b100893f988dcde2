// SPDX-License-Identifier: MIT
// May a program fork while it logs? Yes: a child's first record starts a backend of its own with the same configuration. Sinks of type
// write go on in the same file, line by line; a file that one process must own (pwrite, io_uring, mmap_ring, stdio) becomes PATH.PID.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <penstock/penstock.hpp>

int main() {
  std::filesystem::remove("shared.log");
  for (const auto& entry : std::filesystem::directory_iterator("."))
    if (entry.path().string().find("own.log") != std::string::npos) std::filesystem::remove(entry.path());

  penstock::config settings;
  settings.sinks["shared"] = {.type = "write", .path = "shared.log", .pattern = "{message}"};
  settings.sinks["own"] = {.type = "pwrite", .path = "own.log", .pattern = "{process} {message}"};
  penstock::start(settings);
  PENSTOCK_INFO("parent before fork");
  penstock::flush();  // only for the order of the lines: what is still in memory is written by the parent, once

  int bad_count = 0;
  for (int worker = 1; worker <= 2; ++worker) {
    const pid_t child = ::fork();
    if (child == 0) {
      PENSTOCK_INFO("child {}", worker);
      std::exit(0);  // writes what is left; before _exit() and exec*() call penstock::stop()
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    bad_count += status == 0 ? 0 : 1;
    bad_count += std::filesystem::exists("own.log." + std::to_string(child)) ? 0 : 1;
  }
  PENSTOCK_INFO("parent after fork");
  if (!penstock::stop()) return 1;
  std::cout << std::ifstream("shared.log").rdbuf();
  return bad_count;
}

//> parent before fork
//> child 1
//> child 2
//> parent after fork
