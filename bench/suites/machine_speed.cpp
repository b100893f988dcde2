// SPDX-License-Identifier: MIT
#include "bench/suites/machine_speed.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstring>

#include "bench/suites/pass.hpp"
#include "bench/suites/statistics.hpp"
#include "lib/os/file.hpp"
#include "lib/os/pages.hpp"

namespace penstock::bench {
namespace {

using os::page_bytes;

// Larger than a second-level cache, so that the copy meets the memory that rows meet.
constexpr std::size_t copy_bytes = std::size_t{4} << 20;
constexpr int calls = 4096;
constexpr std::size_t pages = 1024;

double ns_since(pass::clock::time_point start) { return std::chrono::duration<double, std::nano>(pass::clock::now() - start).count(); }

}  // namespace

void machine_speed::probe() {
  static std::vector<std::byte> from(copy_bytes, std::byte{1});
  static std::vector<std::byte> to(copy_bytes);
  auto start = pass::clock::now();
  for (int i = 0; i < 2; ++i) {
    std::memcpy(to.data(), from.data(), copy_bytes);
    asm volatile("" : : "r"(to.data()) : "memory");  // The copy happens, though nobody reads it.
  }
  copy_gb_per_s_.push_back(2 * copy_bytes / ns_since(start));

  static const os::descriptor nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  start = pass::clock::now();
  bool ok = nothing.valid();
  for (int i = 0; i < calls && ok; ++i) ok = ::write(nothing.get(), from.data(), 1) == 1;
  if (ok) call_ns_.push_back(ns_since(start) / calls);

  void* const fresh = ::mmap(nullptr, pages * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (fresh == MAP_FAILED) return;
  ::madvise(fresh, pages * page_bytes, MADV_NOHUGEPAGE);
  start = pass::clock::now();
  for (std::size_t i = 0; i < pages; ++i) static_cast<volatile std::byte*>(fresh)[i * page_bytes] = std::byte{1};
  page_ns_.push_back(ns_since(start) / pages);
  ::munmap(fresh, pages * page_bytes);
}

std::string machine_speed::text() const {
  std::string out;
  const auto add = [&](const char* what, const std::vector<double>& values, const char* unit) {
    if (values.empty()) return;
    const summary all = summarise(values);
    out += fmt::format("{}{} {} {} {}", out.empty() ? "" : ", ", what, three_digits(all.median), range_text(all.min, all.max), unit);
  };
  add("memory copy", copy_gb_per_s_, "GB/s");
  add("system call", call_ns_, "ns");
  add("new page", page_ns_, "ns");
  if (out.empty()) return out;
  return "The machine itself, looked at before each round of passes: " + out + ". Compare two runs only where these agree.";
}

}  // namespace penstock::bench
