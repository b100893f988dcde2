// SPDX-License-Identifier: MIT
// A configuration by designated initialisers, in the ways that people write one. Compiled with all optimisations too: g++ 12 takes strings
// of an aggregate for uninitialised ones (GCC bug 105562), depending on the order and the types of the members.
#include <penstock/penstock.hpp>

penstock::config by_hand();
penstock::config by_hand() {
  return {
      .backend = {.format = penstock::format_mode::caller, .overflow = penstock::overflow_policy::drop},
      .sinks = {{"app", {.type = "pwrite", .path = "app.log", .rotate = {.size = 1 << 20, .keep = 3}}}, {"screen", {.type = "console"}}},
      .loggers = {{"root", {.level = penstock::level::info, .sinks = std::vector<std::string>{"app"}}}}};
}

int main() {
  penstock::start({.sinks = {{"app", {.type = "null"}}}});
  penstock::stop();
  penstock::start({.backend = {.memory = std::size_t{8} << 20}, .sinks = {{"app", {.type = "null"}}}});
  penstock::stop();
  const penstock::config settings{.sinks = {{"app", {.type = "write", .path = "app.log", .batch_size = 65536}}}};
  penstock::start(settings);
  penstock::stop();
  penstock::start(by_hand());
}
