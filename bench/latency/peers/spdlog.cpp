// SPDX-License-Identifier: MIT
// spdlog, asynchronous as its manual has it: one worker, a queue of 8192 that blocks.
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/spdlog.h>
#include <spdlog/version.h>

#include <memory>
#include <string>

#include "bench/latency/one_run.hpp"

namespace {

class spdlog_peer {
 public:
  void start(const std::filesystem::path& file, int) {
    spdlog::init_thread_pool(8192, 1);
    logger_ = spdlog::basic_logger_mt<spdlog::async_factory>("bench", file.string(), true);
    logger_->set_pattern("%Y-%m-%d %H:%M:%S.%f %l %t %v");
  }
  void begin_thread() {}
  void warm() { logger_->info("warm {}", 1); }
  void order(std::uint64_t index, int quantity, double price, const char* symbol) {
    logger_->info("order {} filled qty {} price {} sym {}", index, quantity, price, symbol);
  }
  void numbers(int a, int b, int c, double d) { logger_->info("logging int: {}, int: {}, int: {}, double: {}", a, b, c, d); }
  void text(const std::string& line) { logger_->info("{}", line); }
  void end_thread() {}
  // There is no waiting for the worker; what it has left then is a few warm-up lines.
  void flush() {
    logger_->flush();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  // Drains the queue, joins the worker, closes the file.
  void finish() {
    logger_.reset();
    spdlog::shutdown();
  }
  void stop() {}

 private:
  std::shared_ptr<spdlog::logger> logger_{};
};

}  // namespace

int main(int argc, char** argv) {
  const std::string version =
      std::to_string(SPDLOG_VER_MAJOR) + "." + std::to_string(SPDLOG_VER_MINOR) + "." + std::to_string(SPDLOG_VER_PATCH);
  return penstock::bench::peer_main<spdlog_peer>(argc, argv, {"spdlog " + version, "async_factory, 1 worker, queue 8192, block"});
}
