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
  constexpr static detail::call_site site{};
  backend::line_source line{.site = &site,
                            .body = backend::record_view(site.source, {}),
                            .time = 1'700'000'000'000'000'000,
                            .stream = 1,
                            .logger = "server.http",
                            .logger_index = 1,
                            .thread_id = 4242};
  for (auto step : state) {
    static_cast<void>(step);
    line.time += kept ? 100 : 1'000'000'000;
    benchmark::DoNotOptimize(layout.frame(line).before.bytes());
  }
}

void kept_frame(benchmark::State& state) { frame(state, true); }
BENCHMARK(kept_frame);

void rendered_frame(benchmark::State& state) { frame(state, false); }
BENCHMARK(rendered_frame);

}  // namespace
