// SPDX-License-Identifier: MIT
// Who tells me that the log cannot be written? The error handler. Here the disk is full (/dev/full): what is not written is held and tried
// again; stop() waits a few seconds for it, then counts it as lost and returns false.
#include <atomic>
#include <chrono>
#include <cstdio>

#include <penstock/penstock.hpp>

using namespace std::chrono_literals;

namespace {

std::atomic<bool> told = false;

// On the backend thread, at most once a second for each sink. It may log (to other sinks), but never wait for the log: flush(), sync() and
// stop() return false at once here.
void tell(const penstock::error_report& report) noexcept {
  std::printf("%.*s: %.*s\n", static_cast<int>(report.sink.size()), report.sink.data(), static_cast<int>(report.message.size()),
              report.message.data());
  if (report.code == penstock::errc::no_space) std::puts("page the operator: make room");
  told = true;
  told.notify_all();
}

}  // namespace

int main() {
  penstock::on_error(tell);
  penstock::config settings;
  settings.sinks["app"] = {.type = "write", .path = "/dev/full"};
  penstock::start(settings);

  PENSTOCK_INFO("has no place");
  told.wait(false);  // only for the order of the lines
  std::printf("flush: %s\n", penstock::flush(300ms) ? "written" : "not written yet");
  std::printf("stop: %s\n", penstock::stop() ? "all written" : "something is lost");
  const penstock::sink_stats app = penstock::stats().sinks.at(0);
  std::printf("taken %llu = written %llu + lost %llu + held %llu\n", static_cast<unsigned long long>(app.taken.total()),
              static_cast<unsigned long long>(app.written.total()), static_cast<unsigned long long>(app.lost.total()),
              static_cast<unsigned long long>(app.held.total()));
}

//> app: sink app: No space left on device; what is not written is held and tried again
//> page the operator: make room
//> flush: not written yet
//> stop: something is lost
//> taken 1 = written 0 + lost 1 + held 0
