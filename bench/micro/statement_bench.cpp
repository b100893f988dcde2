// SPDX-License-Identifier: MIT
// One log statement, as the calling thread pays for it. The backend writes to a null sink on another core; records that it cannot take in
// time make the caller wait, so that long runs measure the slower of the two: keep --benchmark_min_time short, or look at `bench logger`.
#include <benchmark/benchmark.h>

#include <string>

#include <penstock/penstock.hpp>

namespace {

using namespace penstock;

// The library runs while one benchmark does.
class running {
 public:
  explicit running(format_mode format) {
    config settings;
    settings.backend.format = format;
    settings.sinks["null"].type = "null";
    settings.loggers["root"] = {.level = level::info, .sinks = std::vector<std::string>{"null"}};
    start(settings);
  }
  ~running() { stop(); }
  running(const running&) = delete;
  running& operator=(const running&) = delete;
};

void off(benchmark::State& state) {
  const running library(format_mode::automatic);
  int i = 0;
  for (auto step : state) {
    static_cast<void>(step);
    PENSTOCK_DEBUG("{} {}", ++i, "never seen");
  }
}
BENCHMARK(off);

void text(benchmark::State& state) {
  const running library(static_cast<format_mode>(state.range(0)));
  for (auto step : state) {
    static_cast<void>(step);
    PENSTOCK_INFO("a line without arguments");
  }
}
BENCHMARK(text)->ArgName("format")->DenseRange(0, 2);

void four_arguments(benchmark::State& state) {
  const running library(static_cast<format_mode>(state.range(0)));
  int i = 0;
  for (auto step : state) {
    static_cast<void>(step);
    ++i;
    PENSTOCK_INFO("request {} from {} took {:.3f} ms, status {}", i, "10.0.0.1", 0.125 * i, 200);
  }
}
BENCHMARK(four_arguments)->ArgName("format")->DenseRange(0, 2);

void long_string(benchmark::State& state) {
  const running library(format_mode::automatic);
  const std::string payload(static_cast<std::size_t>(state.range(0)), 'x');
  for (auto step : state) {
    static_cast<void>(step);
    PENSTOCK_INFO("{}", payload);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(long_string)->ArgName("bytes")->RangeMultiplier(8)->Range(64, 32768);

}  // namespace
