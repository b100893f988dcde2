// SPDX-License-Identifier: MIT
// xtr with its defaults: io_uring storage, one sink of 256 KiB a thread, TSC clock. It prints the sink's name and the source position in
// each line.
#include <sys/syscall.h>
#include <unistd.h>
#include <xtr/logger.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "bench/latency/one_run.hpp"

// xtr syncs its file when it is destroyed, which no other logger does; all are timed until the lines are in the page cache.
extern "C" int fsync(int) { return 0; }

namespace {

thread_local xtr::sink* own_sink = nullptr;

class xtr_peer {
 public:
  void start(const std::filesystem::path& file, int) {
    logger_ = std::make_unique<xtr::logger>(file.c_str(), std::chrono::system_clock(), xtr::null_command_path);
  }
  void begin_thread() {
    if (own_sink != nullptr) return;
    const std::lock_guard lock(mutex_);
    sinks_.push_back(std::make_unique<xtr::sink>(logger_->get_sink(std::to_string(::syscall(SYS_gettid)))));
    own_sink = sinks_.back().get();
  }
  void warm() { XTR_LOGL_TSC(info, *own_sink, "warm {}", 1); }
  void order(std::uint64_t index, int quantity, double price, const char* symbol) {
    XTR_LOGL_TSC(info, *own_sink, "order {} filled qty {} price {} sym {}", index, quantity, price, symbol);
  }
  void numbers(int a, int b, int c, double d) {
    XTR_LOGL_TSC(info, *own_sink, "logging int: {}, int: {}, int: {}, double: {}", a, b, c, d);
  }
  void text(const std::string& line) { XTR_LOGL_TSC(info, *own_sink, "{}", std::string_view(line)); }
  void end_thread() {}
  void flush() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }
  // Drains, flushes, joins; sink::sync() would add an fsync.
  void finish() {
    sinks_.clear();
    logger_.reset();
  }
  void stop() {}

 private:
  std::unique_ptr<xtr::logger> logger_{};
  std::mutex mutex_{};
  std::vector<std::unique_ptr<xtr::sink>> sinks_{};
};

}  // namespace

int main(int argc, char** argv) {
  return penstock::bench::peer_main<xtr_peer>(argc, argv, {"xtr", "one sink a thread, TSC clock, default storage"});
}
