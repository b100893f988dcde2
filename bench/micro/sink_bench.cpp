// SPDX-License-Identifier: MIT
// What a sink's hand-over costs when its destination costs nothing, and what a frame of the ring costs.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <vector>

#include <penstock/config.hpp>
#include <penstock/sink.hpp>

#include "bench/suites/checksum.hpp"
#include "bench/suites/scratch.hpp"
#include "sinks/crc32c.hpp"
#include "sinks/factory.hpp"

namespace {

using namespace penstock;

void lend_and_submit(benchmark::State& state, sink& destination) {
  const auto bytes = static_cast<std::size_t>(state.range(0));
  for (auto step : state) {
    static_cast<void>(step);
    const batch lent = destination.lend({});
    if (lent.room.size() < bytes) {
      state.SkipWithError("the room is too small");
      return;
    }
    std::memset(lent.room.data(), 'x', bytes);
    if (!destination.submit(bytes).ok()) state.SkipWithError("submit failed");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}

void null_sink(benchmark::State& state) {
  sink_config settings;
  settings.type = "null";
  const std::unique_ptr<sink> destination = sinks::make_sink(settings);
  lend_and_submit(state, *destination);
}
BENCHMARK(null_sink)->ArgName("bytes")->Arg(4096)->Arg(65536);

void ring_sink(benchmark::State& state) {
  const bench::scratch_folder folder(".");
  sink_config settings;
  settings.type = "mmap_ring";
  settings.path = folder.target();
  settings.size = std::size_t{16} << 20;
  const std::unique_ptr<sink> destination = sinks::make_sink(settings);
  lend_and_submit(state, *destination);
}
BENCHMARK(ring_sink)->ArgName("bytes")->Arg(120)->Arg(4096)->Arg(65000);

void crc32c(benchmark::State& state) {
  const std::vector<std::byte> data(static_cast<std::size_t>(state.range(0)), std::byte{7});
  for (auto step : state) {
    static_cast<void>(step);
    benchmark::DoNotOptimize(sinks::crc32c(data));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(crc32c)->ArgName("bytes")->Arg(64)->Arg(65536);

// The checksum that verifies passes runs inside the clock of the reading rows: this is what it costs there.
void pass_checksum(benchmark::State& state) {
  const std::vector<std::byte> data(static_cast<std::size_t>(state.range(0)), std::byte{7});
  for (auto step : state) {
    static_cast<void>(step);
    benchmark::DoNotOptimize(bench::digest_of(data));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(pass_checksum)->ArgName("bytes")->Arg(5000)->Arg(65536);

}  // namespace
