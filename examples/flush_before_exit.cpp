// SPDX-License-Identifier: MIT
// What is to be done before a process ends without leaving main()? exit() and the end of main() write everything by themselves; _exit(),
// abort() and std::terminate() run nothing, so flush() has to come first.
#include <unistd.h>

#include <chrono>
#include <exception>
#include <stdexcept>

#include <penstock/penstock.hpp>

using namespace std::chrono_literals;

int main() {
  penstock::config settings;
  settings.sinks["screen"] = {.type = "console", .pattern = "{level} {message}"};
  penstock::start(settings);

  std::set_terminate([] {
    PENSTOCK_CRITICAL("terminated by an exception that nobody caught");
    // With a deadline: a disk that does not answer must not keep the process alive. False: not all of it is written.
    const bool written = penstock::flush(10s);
    ::_exit(written ? 0 : 3);  // abort() in a real program
  });
  PENSTOCK_INFO("begins");
  throw std::runtime_error("nobody catches this");
}

//> info begins
//> critical terminated by an exception that nobody caught
