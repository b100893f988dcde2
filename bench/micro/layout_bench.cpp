// SPDX-License-Identifier: MIT
// What surrounds a message: a frame that is kept, and one that has to be rendered.
#include <benchmark/benchmark.h>

#include <penstock/config.hpp>

#include "lib/backend/line_layout.hpp"

namespace {

using namespace penstock;

void frame(benchmark::State& state, bool kept) {
  const sink_config settings;
  backend::line_layout layout(settings.pattern, control_chars_policy::escape, false);
  backend::line_facts facts{.time = 1'700'000'000'000'000'000, .record_level = level::info, .thread_id = 4242, .logger = "server.http"};
  const int site = 0;
  const backend::frame_key key{.site = &site, .stream = 1, .logger = 1, .source_line = 42};
  for (auto step : state) {
    static_cast<void>(step);
    facts.time += kept ? 100 : 1'000'000'000;
    benchmark::DoNotOptimize(layout.frame(key, facts).before.bytes());
  }
}

void kept_frame(benchmark::State& state) { frame(state, true); }
BENCHMARK(kept_frame);

void rendered_frame(benchmark::State& state) { frame(state, false); }
BENCHMARK(rendered_frame);

}  // namespace
