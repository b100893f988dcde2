// SPDX-License-Identifier: MIT
// How do the same records go to several places in different layouts, and some to one place only? Sinks have patterns, loggers have levels
// and sinks.
#include <filesystem>
#include <fstream>
#include <iostream>

#include <penstock/penstock.hpp>

int main() {
  for (const char* file : {"app.log", "audit.log"}) std::filesystem::remove(file);
  penstock::config settings;
  settings.sinks["app"] = {.type = "pwrite", .path = "app.log", .pattern = "{level:>8} [{logger}] {message} ({file})"};
  settings.sinks["json"] = {.type = "console", .pattern = R"({{"level":"{level}","text":"{message}"}})"};
  // On the medium before the next batch, and nobody else may read it.
  settings.sinks["audit"] = {.type = "write", .path = "audit.log", .sync = {.each_batch = true}, .pattern = "{message}", .mode = 0600};
  settings.loggers["root"] = {.level = penstock::level::info, .sinks = {{"app", "json"}}};
  settings.loggers["audit"] = {.level = penstock::level::trace, .sinks = {{"audit"}}};  // to that one alone
  penstock::start(settings);

  PENSTOCK_INFO("up");
  PENSTOCK_LOG_TRACE(penstock::get("audit.login"), "user {} logs in", "ada");  // a child of audit: its sinks, its level
  PENSTOCK_LOG_DEBUG(penstock::get("net"), "below the level of root");
  const bool durable = penstock::sync();  // everything, on every medium, now
  penstock::stop();
  std::cout << "app: " << std::ifstream("app.log").rdbuf() << "audit: " << std::ifstream("audit.log").rdbuf();
  return durable ? 0 : 1;
}

//> {"level":"info","text":"up"}
//> app:     info [root] up (several_sinks.cpp)
//> audit: user ada logs in
