// SPDX-License-Identifier: MIT
// Quill, with what makes it fastest here: TSC clock, a backend that spins, no check for unprintable characters.
#include <quill/Backend.h>
#include <quill/Frontend.h>
#include <quill/LogMacros.h>
#include <quill/sinks/FileSink.h>

#include <string>
#include <string_view>

#include "bench/latency/one_run.hpp"

namespace {

#ifdef PENSTOCK_BOUNDED_QUEUE
struct queue_options : quill::FrontendOptions {
  static constexpr quill::QueueType queue_type = quill::QueueType::BoundedBlocking;
  static constexpr std::size_t initial_queue_capacity = std::size_t{1} << 20;
};
constexpr const char* settings = "TSC clock, spinning backend, bounded blocking queue of 1 MiB";
constexpr const char* queue_name = " bounded";
#else
struct queue_options : quill::FrontendOptions {};
constexpr const char* settings = "TSC clock, spinning backend, unbounded queue (the default)";
constexpr const char* queue_name = "";
#endif
using frontend = quill::FrontendImpl<queue_options>;
using logger = quill::LoggerImpl<queue_options>;

class quill_peer {
 public:
  void start(const std::filesystem::path& file, int backend_cpu) {
    quill::BackendOptions options;
    options.error_notifier = {};
    options.sleep_duration = std::chrono::nanoseconds(0);
    options.enable_yield_when_idle = false;
    options.log_timestamp_ordering_grace_period = std::chrono::microseconds(1);
    options.check_printable_char = {};
    if (backend_cpu >= 0) options.cpu_affinity = {static_cast<std::uint16_t>(backend_cpu)};
    quill::Backend::start(options);
    quill::FileSinkConfig to_file;
    to_file.set_open_mode('w');
    auto sink = frontend::create_or_get_sink<quill::FileSink>(file.string(), to_file, quill::FileEventNotifier{});
    logger_ = frontend::create_or_get_logger("bench", std::move(sink),
                                             quill::PatternFormatterOptions{"%(time) %(log_level) %(thread_id) %(message)",
                                                                            "%Y-%m-%d %H:%M:%S.%Qus", quill::Timezone::LocalTime, false},
                                             quill::ClockSourceType::Tsc);
  }
  void begin_thread() { frontend::preallocate(); }
  void warm() {
    LOG_INFO(logger_, "warm {}", 1);
    logger_->flush_log(0);
  }
  void order(std::uint64_t index, int quantity, double price, const char* symbol) {
    LOG_INFO(logger_, "order {} filled qty {} price {} sym {}", index, quantity, price, symbol);
  }
  void numbers(int a, int b, int c, double d) { LOG_INFO(logger_, "logging int: {}, int: {}, int: {}, double: {}", a, b, c, d); }
  void text(const std::string& line) { LOG_INFO(logger_, "{}", std::string_view(line)); }
  void end_thread() {}
  void flush() { logger_->flush_log(0); }
  void finish() { logger_->flush_log(0); }
  void stop() { quill::Backend::stop(); }

 private:
  logger* logger_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string version =
      std::to_string(quill::VersionMajor) + "." + std::to_string(quill::VersionMinor) + "." + std::to_string(quill::VersionPatch);
  return penstock::bench::peer_main<quill_peer>(argc, argv, {"Quill " + version + queue_name, settings});
}
