// SPDX-License-Identifier: MIT
#include "bench/latency/workload.hpp"

#include <algorithm>
#include <stdexcept>

namespace penstock::bench {
namespace {

constexpr std::uint64_t throughput_records = 4'000'000;
constexpr std::uint64_t latency_calls = 50'000;
constexpr std::uint64_t long_record_count = 1'000;
constexpr std::size_t idle_threads = 1'000;
constexpr std::array long_record_thousands{1, 2, 5, 10, 50};

}  // namespace

std::vector<workload> workloads_of(const workload_options& chosen) {
  const auto records = [&](std::uint64_t usual) { return chosen.records == 0 ? usual : chosen.records; };
  std::vector<workload> all;
  for (const std::string& name : chosen.names) {
    const std::size_t threads = name == "T2" || name == "L2" ? chosen.threads : 1;
    if (name == "T1" || name == "T2") {
      const std::uint64_t calls = std::max<std::uint64_t>(1, records(throughput_records) / threads);
      all.push_back({.name = name, .kind = workload_kind::throughput, .threads = threads, .calls = calls});
    } else if (name == "L1" || name == "L2") {
      const std::uint64_t calls = std::max<std::uint64_t>(1, records(latency_calls) / burst_calls) * burst_calls;
      all.push_back({.name = name, .kind = workload_kind::latency, .threads = threads, .calls = calls});
    } else if (name == "J1") {
      for (const int thousands : long_record_thousands) {
        all.push_back({.name = "J1 " + std::to_string(thousands) + "K",
                       .kind = workload_kind::long_records,
                       .calls = records(long_record_count),
                       .record_bytes = static_cast<std::size_t>(thousands) * 1000});
      }
    } else if (name == "I1") {
      all.push_back({.name = name, .kind = workload_kind::idle, .threads = records(idle_threads), .calls = 1});
    } else {
      throw std::invalid_argument("there is no workload " + name + "; there are T1, T2, L1, L2, J1 and I1");
    }
  }
  return all;
}

const call_values& values() noexcept {
  static const call_values made = [] {
    call_values out;
    for (std::size_t i = 0; i < out.prices.size(); ++i) out.prices[i] = static_cast<double>(10'000 + i * 7) / 100.0;
    return out;
  }();
  return made;
}

std::string long_record(std::size_t bytes) {
  constexpr std::string_view begin = "jrec ";
  constexpr std::string_view end = "END";
  std::string text(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>('a' + i % 26);
  text.replace(0, begin.size(), begin);
  text.replace(bytes - end.size(), end.size(), end);
  return text;
}

}  // namespace penstock::bench
