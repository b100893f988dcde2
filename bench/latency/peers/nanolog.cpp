// SPDX-License-Identifier: MIT
// NanoLog's C++17 variant with its defaults. Its file is binary; it is turned into text after the clock has stopped, to count the lines.
#include <Log.h>
#include <NanoLogCpp17.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "bench/latency/one_run.hpp"

namespace {

using namespace NanoLog::LogLevels;  // NOLINT(google-build-using-namespace): its macros want it.

class nanolog_peer {
 public:
  void start(const std::filesystem::path& file, int) {
    file_ = file;
    NanoLog::setLogFile(file.c_str());
    NanoLog::setLogLevel(NOTICE);
  }
  void begin_thread() { NanoLog::preallocate(); }
  void warm() { NANO_LOG(NOTICE, "warm %d", 1); }
  void order(std::uint64_t index, int quantity, double price, const char* symbol) {
    NANO_LOG(NOTICE, "order %lu filled qty %d price %lf sym %s", index, quantity, price, symbol);
  }
  void numbers(int a, int b, int c, double d) { NANO_LOG(NOTICE, "logging int: %d, int: %d, int: %d, double: %lf", a, b, c, d); }
  void text(const std::string& line) { NANO_LOG(NOTICE, "%s", line.c_str()); }
  void end_thread() {}
  void flush() { NanoLog::sync(); }
  void finish() { NanoLog::sync(); }
  void stop() {
    const std::filesystem::path text = file_.string() + ".text";
    std::FILE* const out = std::fopen(text.c_str(), "w");
    NanoLogInternal::Log::Decoder decoder;
    if (out == nullptr || !decoder.open(file_.c_str())) throw std::runtime_error("cannot decode " + file_.string());
    decoder.decompressTo(out);
    std::fclose(out);
    std::filesystem::rename(text, file_);
    end_lines_as_others_do();
  }

 private:
  /// Its decoder ends each line with a carriage return and a newline.
  void end_lines_as_others_do() {
    const std::filesystem::path clean = file_.string() + ".clean";
    {
      std::ifstream in(file_, std::ios::binary);
      std::ofstream out(clean, std::ios::binary);
      for (std::string line; std::getline(in, line);) {
        if (line.ends_with('\r')) line.pop_back();
        out << line << '\n';
      }
    }
    std::filesystem::rename(clean, file_);
  }

  std::filesystem::path file_{};
};

}  // namespace

int main(int argc, char** argv) {
  return penstock::bench::peer_main<nanolog_peer>(argc, argv, {"NanoLog (binary file)", "C++17 variant, defaults: O_DSYNC"});
}
