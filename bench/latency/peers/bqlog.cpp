// SPDX-License-Identifier: MIT
// BqLog with a text file, a thread of its own, blocking when its buffer is full. It chooses the name of its file.
#include <bq_log/bq_log.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "bench/latency/one_run.hpp"

namespace {

// Its formatter takes any type with these members as a string of known length.
struct view {
  using value_type = char;
  using size_type = std::size_t;
  const char* begin;
  std::size_t bytes;
  const char* data() const { return begin; }
  std::size_t size() const { return bytes; }
};

class bqlog_peer {
 public:
  void start(const std::filesystem::path& file, int) {
    file_ = file;
    const std::string settings =
        "appenders_config.a.type=text_file\nappenders_config.a.levels=[all]\nappenders_config.a.time_zone=localtime\n"
        "appenders_config.a.file_name=" +
        file.string() + ".bq\nlog.thread_mode=independent\nlog.buffer_policy_when_full=block\n";
    log_.emplace(bq::log::create_log("bench", settings.c_str()));
  }
  void begin_thread() {}
  void warm() { log_->info("warm {}", 1); }
  void order(std::uint64_t index, int quantity, double price, const char* symbol) {
    log_->info("order {} filled qty {} price {} sym {}", index, quantity, price, symbol);
  }
  void numbers(int a, int b, int c, double d) { log_->info("logging int: {}, int: {}, int: {}, double: {}", a, b, c, d); }
  void text(const std::string& line) { log_->info("{}", view{line.data(), line.size()}); }
  void end_thread() {}
  void flush() { log_->force_flush(); }
  void finish() { log_->force_flush(); }
  void stop() {
    const std::string begin = file_.filename().string() + ".bq";
    for (const auto& entry : std::filesystem::directory_iterator(file_.parent_path())) {
      if (!entry.path().filename().string().starts_with(begin)) continue;
      std::filesystem::rename(entry.path(), file_);
      return;
    }
    throw std::runtime_error("BqLog wrote no file " + begin + "*");
  }

 private:
  std::filesystem::path file_{};
  std::optional<bq::log> log_{};
};

}  // namespace

int main(int argc, char** argv) {
  return penstock::bench::peer_main<bqlog_peer>(argc, argv, {"BqLog", "text_file, independent thread, block, 64 KiB buffer"});
}
