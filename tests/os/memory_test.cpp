// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

#include "lib/os/batch_buffer.hpp"
#include "lib/os/mapping.hpp"
#include "lib/os/pages.hpp"

namespace penstock::os {
namespace {

// Bytes of huge pages in the mapping that holds `address`; -1: the kernel does not say.
long huge_bytes_at(const std::byte* address) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx", &begin, &end) == 2)
      inside = reinterpret_cast<std::uintptr_t>(address) >= begin && reinterpret_cast<std::uintptr_t>(address) < end;
    long kibibytes = 0;
    if (inside && std::sscanf(line.c_str(), "AnonHugePages: %ld kB", &kibibytes) == 1) return kibibytes * 1024;
  }
  return -1;
}

TEST(BatchBuffer, IsInHugePagesWhereThatWasAskedFor) {
  const batch_buffer memory(std::size_t{1} << 20, true);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % huge_page_bytes, 0U);
  std::memset(memory.data(), 'x', memory.bytes());
  if (huge_bytes_at(memory.data()) <= 0) GTEST_SKIP() << "SKIPPED: this kernel gives no huge pages";
  EXPECT_GE(huge_bytes_at(memory.data()), static_cast<long>(huge_page_bytes));
}

TEST(BatchBuffer, KeepsItsMemoryWhenItIsMoved) {
  batch_buffer first(std::size_t{3} << 20, true);
  std::byte* const begin = first.data();
  begin[0] = std::byte{'x'};
  batch_buffer second(4096);
  second = std::move(first);
  EXPECT_EQ(second.data(), begin);
  EXPECT_EQ(second.bytes(), std::size_t{3} << 20);
  const batch_buffer third(std::move(second));
  EXPECT_EQ(third.data()[0], std::byte{'x'});
}

long address_space_kib() {
  std::ifstream status("/proc/self/status");
  long kibibytes = 0;
  for (std::string line; std::getline(status, line);)
    if (std::sscanf(line.c_str(), "VmSize: %ld kB", &kibibytes) == 1) break;
  return kibibytes;
}

TEST(MapMemory, GivesBackAllThatItTook) {
  const long before = address_space_kib();
  for (int i = 0; i < 1000; ++i) {
    std::byte* const memory = map_memory(std::size_t{3} << 20, true);
    ASSERT_NE(memory, nullptr);
    unmap_memory(memory, std::size_t{3} << 20, true);
  }
  EXPECT_LT(address_space_kib() - before, 1'000'000) << "1000 mappings of 4 MiB that stay would be 4 GB";
}

}  // namespace
}  // namespace penstock::os
