// SPDX-License-Identifier: MIT
// Penstock as one of the loggers that are compared, by its public API alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include <penstock/penstock.hpp>

namespace penstock::bench {

class penstock_peer {
 public:
  explicit penstock_peer(format_mode format) : format_(format) {}

  void start(const std::filesystem::path& file, int backend_cpu) {
    config settings;
    settings.backend.format = format_;
    settings.backend.cpu = backend_cpu;
    sink_config& sink = settings.sinks["bench"];
    sink.path = file;
    sink.pattern = "{time} {level} {thread} {message}";
    settings.loggers["root"] = {.level = level::info, .sinks = {{"bench"}}};
    penstock::start(settings);
  }
  void begin_thread() {}
  void warm() { PENSTOCK_INFO("warm {}", 1); }
  void order(std::uint64_t index, int quantity, double price, const char* symbol) {
    PENSTOCK_INFO("order {} filled qty {} price {} sym {}", index, quantity, price, symbol);
  }
  void numbers(int a, int b, int c, double d) { PENSTOCK_INFO("logging int: {}, int: {}, int: {}, double: {}", a, b, c, d); }
  void text(const std::string& line) { PENSTOCK_INFO("{}", line); }
  void end_thread() {}
  void flush() { penstock::flush(); }
  void finish() { penstock::flush(); }
  void stop() { penstock::stop(); }

 private:
  format_mode format_;
};

}  // namespace penstock::bench
