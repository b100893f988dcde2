// SPDX-License-Identifier: MIT
// How does a service read its logging from a file, and what does it say of a bad one? `penstock config --check F` finds the same faults.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <penstock/penstock.hpp>

constexpr const char* good = R"([backend]
overflow = "drop"

[sinks.app]
type    = "write"
path    = "logs/app.log"
create_folders = true
pattern = "{level:<7} {logger}: {message}"

[loggers.root]
level = "info"
sinks = ["app"]

[loggers.net.http]
level = "warning"
)";

int main() {
  std::filesystem::remove_all("logs");
  std::ofstream("app.toml") << good;
  try {
    penstock::start("app.toml");
  } catch (const std::exception& refused) {  // config_error or std::system_error; nothing runs then
    std::fprintf(stderr, "%s\n", refused.what());
    return 2;
  }
  PENSTOCK_INFO("reads {}", "app.toml");
  PENSTOCK_LOG_INFO(penstock::get("net.http"), "hidden: this logger starts at warning");
  PENSTOCK_LOG_WARNING(penstock::get("net.http.client"), "inherits from net.http");
  penstock::stop();
  std::cout << std::ifstream("logs/app.log").rdbuf();

  // Names the place, the fault and the remedy. Nothing has changed when it is thrown.
  try {
    penstock::parse_config("[sinks.app]\ntype = \"write\"\npath = \"app.log\"\nflush_intervall = \"1 s\"\n", "bad.toml");
  } catch (const penstock::config_error& refused) {
    std::cout << refused.what() << '\n';
  }
}

//> info    root: reads app.toml
//> warning net.http.client: inherits from net.http
//> bad.toml:4:1:
//> flush_interval
