// SPDX-License-Identifier: MIT
// fmtlog, told to wait rather than to drop.
#define FMTLOG_HEADER_ONLY
#define FMTLOG_BLOCK 1
#define FMTLOG_NO_CHECK_LEVEL 1
#include <fmtlog.h>

#include <string>

#include "bench/latency/one_run.hpp"

namespace {

class fmtlog_peer {
 public:
  void start(const std::filesystem::path& file, int) {
    fmtlog::setLogFile(file.c_str(), true);
    fmtlog::setHeaderPattern("{YmdHMSf} {l} {t} ");
    fmtlog::setFlushBufSize(1 << 20);
    fmtlog::startPollingThread(1);
  }
  void begin_thread() { fmtlog::preallocate(); }
  void warm() { FMTLOG(fmtlog::INF, "warm {}", 1); }
  void order(std::uint64_t index, int quantity, double price, const char* symbol) {
    FMTLOG(fmtlog::INF, "order {} filled qty {} price {} sym {}", index, quantity, price, symbol);
  }
  void numbers(int a, int b, int c, double d) { FMTLOG(fmtlog::INF, "logging int: {}, int: {}, int: {}, double: {}", a, b, c, d); }
  void text(const std::string& line) { FMTLOG(fmtlog::INF, "{}", fmt::string_view(line)); }
  void end_thread() {}
  void flush() {
    finish();
    fmtlog::startPollingThread(1);
  }
  void finish() {
    fmtlog::stopPollingThread();
    fmtlog::poll(true);
  }
  void stop() { fmtlog::closeLogFile(); }
};

}  // namespace

int main(int argc, char** argv) {
  return penstock::bench::peer_main<fmtlog_peer>(argc, argv, {"fmtlog", "FMTLOG_BLOCK, spinning poll thread, 1 MiB flush buffer"});
}
