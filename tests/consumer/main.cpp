// SPDX-License-Identifier: MIT
// A service as a user writes it: a config in code, two files that log, a named logger. Exit status 0: the log holds what was logged.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <penstock/penstock.hpp>

void work(int worker);

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  penstock::config settings;
  settings.sinks["app"] = {.type = "write", .path = argv[1], .pattern = "{level} {logger}: {message}"};
  settings.loggers["root"] = {.level = penstock::level::info};
  penstock::start(settings);
  std::thread other(work, 1);
  other.join();
  penstock::get("audit").warning("macro-free {}", 42);
  PENSTOCK_DEBUG("not visible at level {}", "info");
  if (!penstock::stop()) return 1;

  std::ifstream file(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string expected = "info root: worker 1 at work\nwarning audit: macro-free 42\n";
  if (text != expected) std::fprintf(stderr, "the log holds:\n%s", text.c_str());
  return text == expected ? 0 : 1;
}
