// SPDX-License-Identifier: MIT
#include "bench/suites/logger_rows.hpp"

#if __has_include(<penstock/penstock.hpp>)
#include <unistd.h>

#include <stdexcept>
#include <string_view>

#include <penstock/penstock.hpp>

#include "bench/suites/raw_io.hpp"
#include "bench/suites/sink_rows.hpp"

namespace penstock::bench {
namespace {

constexpr std::size_t memory_bytes = std::size_t{64} << 20;

config logger_config_for(const pass& the_pass, const std::string& type, std::size_t batch_bytes) {
  config settings;
  settings.backend.memory = memory_bytes;
  sink_config& sink = settings.sinks["bench"];
  sink.type = type;
  sink.path = the_pass.target;
  sink.batch_size = batch_bytes;
  sink.pattern = "{message}";
  sink.control_chars = control_chars_policy::raw;
  sink.reopen = false;
  settings.loggers["root"] = {.level = level::info, .sinks = std::vector<std::string>{"bench"}};
  return settings;
}

void log_records(const records& lines, pass& the_pass, const std::string& type, std::size_t batch_bytes) {
  if (the_pass.file == file_policy::truncate && ::truncate(the_pass.target.c_str(), 0) != 0) fail("cannot truncate", the_pass.target);
  start(logger_config_for(the_pass, type, batch_bytes));
  logger& log = penstock::get("root");
  the_pass.started();
  for (std::size_t i = 0; i < records::count; ++i) {
    const std::span<const std::byte> line = lines[i];
    // The logger adds the newline that ends each record.
    log.info("{}", std::string_view(reinterpret_cast<const char*>(line.data()), line.size() - 1));
  }
  the_pass.returned();
  const bool all_written = stop();
  the_pass.closed();
  if (!all_written) throw std::runtime_error("stop() left records behind");
}

}  // namespace

void add_logger_rows(column& size, const options& chosen, const std::shared_ptr<const records>& lines) {
  if (chosen.file == file_policy::in_place) return;
  constexpr std::size_t batch_bytes = std::size_t{256} << 10;
  size.cells.push_back({.row = "logger, sink write " + size_text(batch_bytes) + ", memory " + size_text(memory_bytes),
                        .kind = row_kind::logger,
                        .run = [lines](pass& p) { log_records(*lines, p, "write", batch_bytes); }});
}

}  // namespace penstock::bench

#else

namespace penstock::bench {

void add_logger_rows(column&, const options&, std::shared_ptr<const records>) {}

}  // namespace penstock::bench
#endif
