// SPDX-License-Identifier: MIT
// What happens when a program logs more than can be written? With overflow = "drop" it goes on at full speed; what is dropped is counted,
// and the log itself says so. Warnings and worse wait for room (keep_level). Here the slow reader of a pipe is the bottleneck.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include <penstock/penstock.hpp>

int main() {
  std::filesystem::remove("slow.pipe");
  if (::mkfifo("slow.pipe", 0600) != 0) return 2;
  const int reader = ::open("slow.pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ::fcntl(reader, F_SETFL, 0);

  penstock::config settings;
  settings.backend.memory = std::size_t{1} << 20;
  settings.backend.overflow = penstock::overflow_policy::drop;
  settings.sinks["pipe"] = {.type = "write", .path = "slow.pipe", .pattern = "{level} {message}"};
  penstock::start(settings);

  // Nobody reads yet. None of these calls waits.
  constexpr int record_count = 100'000;
  for (int i = 0; i < record_count; ++i) PENSTOCK_INFO("tick {}", i);

  std::string text;
  std::thread slow([&] {
    std::array<char, 65536> part{};
    for (ssize_t got; !text.ends_with("the end\n") && (got = ::read(reader, part.data(), part.size())) > 0;)
      text.append(part.data(), static_cast<std::size_t>(got));
  });
  PENSTOCK_WARNING("this one waited for room");
  const bool written = penstock::flush();
  const penstock::front_stats front = penstock::stats().front;
  const bool adds_up = front.taken.total() + front.dropped_total() == record_count + 1 && front.dropped_total() > 0;
  std::cout << (adds_up ? "every record was taken or counted as dropped\n" : "the ledger is wrong\n");
  PENSTOCK_INFO("the end");
  penstock::stop();
  slow.join();

  // Such as: penstock: 73654 records dropped (info 73654): the memory budget was spent; from 02:21:52.375610 to 02:21:52.387401
  std::uint64_t told = 0;
  bool kept = false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::string_view notice = "warning penstock: ";
    if (line.starts_with(notice)) told += std::stoull(line.substr(notice.size()));
    kept = kept || line == "warning this one waited for room";
  }
  std::cout << (told == front.dropped_total() ? "the log tells of all that were dropped\n" : "the log is silent\n");
  return written && kept ? 0 : 1;
}

//> every record was taken or counted as dropped
//> the log tells of all that were dropped
