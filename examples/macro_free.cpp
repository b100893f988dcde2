// SPDX-License-Identifier: MIT
// Is there a way without macros, and for formats that are known at run time only? Functions with the same checks and the same place of
// call; runtime() for texts from a catalogue or a user.
#include <string>

#include <penstock/penstock.hpp>

int main() {
  penstock::config settings;
  settings.sinks["screen"] = {.type = "console", .pattern = "{level} {file} {function} {logger}: {message}"};
  penstock::start(settings);

  penstock::info("{} of {}", 1, 2);  // a literal: checked by the compiler
  penstock::get("net").warning("{:>6}|{:.2f}", "right", 2.0 / 3);

  std::string translated = "{1} von {0}";
  penstock::info(penstock::runtime(translated), 2, 1);  // the text may go as soon as the call returns
  translated.clear();

  // Nothing checks this one before it is laid out. The line says what is wrong, and where.
  penstock::error(penstock::runtime("{:d}"), "a string");
  return penstock::stop() ? 0 : 1;
}

//> info macro_free.cpp main root: 1 of 2
//> warning macro_free.cpp main net:  right|0.67
//> info macro_free.cpp main root: 1 von 2
//> error macro_free.cpp main root: {:d} [format error:
