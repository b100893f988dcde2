// SPDX-License-Identifier: MIT
// A program whose system clock is set, stands still and goes on, as it says. The clock is here: this definition stands before libc's.
// usage: clocks tsc|system|stands FILE; `stands`: tsc, beside a clock that stands still when the library starts. Exit status 0: every call
// came back; what was logged is in the file, and the test reads it.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <penstock/penstock.hpp>

namespace {

using namespace std::chrono_literals;

std::atomic<long> offset_seconds{0};
std::atomic<long> stands_at{0};  // Seconds since 1970; 0: it runs.

}  // namespace

extern "C" int clock_gettime(clockid_t id, timespec* out) noexcept {
  if (id == CLOCK_REALTIME && stands_at != 0) {
    *out = {stands_at, 0};
    return 0;
  }
  const long result = ::syscall(SYS_clock_gettime, id, out);
  if (id == CLOCK_REALTIME) out->tv_sec += offset_seconds;
  return static_cast<int>(result);
}

namespace {

using namespace penstock;

std::filesystem::path path;
int number = 0;

std::string last_line() {
  std::ifstream in(path, std::ios::ate);
  in.seekg(std::max<std::streamoff>(in.tellg() - std::streamoff{4096}, 0));
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (line.find("n=") != std::string::npos) last = line;
  return last;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, last_line().c_str());
  std::_Exit(1);
}

// Logs until a line bears the year; the counter is compared with the clock once a second at least.
void log_until(const char* year) {
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  do {
    if (std::chrono::steady_clock::now() > deadline) fail(year);
    PENSTOCK_INFO("n={}", number++);
    if (!flush(30s)) fail("flush");
    std::this_thread::sleep_for(10ms);  // Not so many that looking at the file takes longer than the clock.
  } while (last_line().rfind(year, 0) != 0);
}

long now() { return static_cast<long>(::syscall(SYS_time, nullptr)); }

constexpr long year_2046 = 2'400'000'000;
constexpr long year_2038 = 2'147'483'647 - 1;  // Two seconds before 31 bits are used up.

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  path = argv[2];
  config made;
  const std::string which = argv[1];
  made.backend.clock = which == "system" ? clock_source::system : clock_source::tsc;
  made.backend.memory = std::size_t{1} << 20;
  sink_config sink;
  sink.type = "write";
  sink.path = path;
  sink.pattern = "{time:%Y-%m-%d %H:%M:%S} {message}";
  made.sinks.emplace("app", sink);
  static int told_count = 0;
  on_error([](const error_report& what) noexcept {
    if (what.message.find("backend.clock: the time-stamp counter does not advance") != std::string_view::npos) ++told_count;
  });
  if (which == "stands") stands_at = now();
  start(made);
  stands_at = 0;
  if (told_count != (which == "stands" ? 1 : 0)) fail("what is told of the clock");
  const std::string year = std::to_string(1970 + now() / 31'557'600);
  log_until(year.c_str());
  offset_seconds = year_2046 - now();
  log_until("2046-01-19");
  offset_seconds = year_2038 - now();
  log_until("2038-01-19 03:14:08");
  offset_seconds = -7'200;
  log_until(year.c_str());
  // A clock that stands: more than the memory holds, so that the backend has to go on by itself.
  stands_at = now();
  for (int i = 0; i < 20'000; ++i) PENSTOCK_INFO("n={} {:100}", number++, "");
  if (!flush(30s) || !sync(30s)) fail("flush while the clock stands");
  // One record alone is not held back either.
  PENSTOCK_INFO("n={} alone", number++);
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (last_line().find("alone") == std::string::npos)
    if (std::chrono::steady_clock::now() > deadline) fail("a record is held back while the clock stands");
  stands_at = 0;
  offset_seconds = 0;
  log_until(year.c_str());
  PENSTOCK_INFO("n={}", number++);
  if (!stop(30s)) fail("stop");
  std::printf("%d\n", number);
  return 0;
}
