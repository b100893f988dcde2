// SPDX-License-Identifier: MIT
// glog as it comes: synchronous, buffered, its own line prefix. It cuts a record at 30,000 bytes, which counts as lost.
#include <glog/logging.h>

#include <string>

#include "bench/latency/one_run.hpp"

namespace {

class glog_peer {
 public:
  void start(const std::filesystem::path& file, int) {
    FLAGS_timestamp_in_logfile_name = false;
    FLAGS_log_prefix = true;
    FLAGS_stderrthreshold = google::GLOG_FATAL;
    FLAGS_stop_logging_if_full_disk = false;
    google::InitGoogleLogging("bench");
    google::SetLogDestination(google::GLOG_INFO, file.c_str());
    google::SetLogDestination(google::GLOG_WARNING, "");
    google::SetLogDestination(google::GLOG_ERROR, "");
    google::SetLogSymlink(google::GLOG_INFO, "");
  }
  void begin_thread() {}
  void warm() { LOG(INFO) << "warm " << 1; }
  void order(std::uint64_t index, int quantity, double price, const char* symbol) {
    LOG(INFO) << "order " << index << " filled qty " << quantity << " price " << price << " sym " << symbol;
  }
  void numbers(int a, int b, int c, double d) {
    LOG(INFO) << "logging int: " << a << ", int: " << b << ", int: " << c << ", double: " << d;
  }
  void text(const std::string& line) { LOG(INFO) << line; }
  void end_thread() {}
  void flush() { google::FlushLogFiles(google::GLOG_INFO); }
  void finish() { google::FlushLogFiles(google::GLOG_INFO); }
  void stop() {}
};

}  // namespace

int main(int argc, char** argv) {
  return penstock::bench::peer_main<glog_peer>(argc, argv, {"glog " PENSTOCK_PEER_VERSION, "synchronous, buffered"});
}
