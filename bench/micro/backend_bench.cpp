// SPDX-License-Identifier: MIT
// The backend alone, turned by hand: records of four arguments are prepared outside the clock, then one turn after the other takes them,
// merges, lays out lines by the standard pattern and hands batches over. What a turn reads is in this core's cache; in a program another
// core has written it. Beside it, memcpy of as many bytes into a buffer of a batch's size.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <penstock/log.hpp>

#include "bench/latency/workload.hpp"
#include "bench/suites/scratch.hpp"
#include "lib/backend/worker.hpp"
#include "lib/transport/thread_stream.hpp"
#include "sinks/factory.hpp"

namespace {

using namespace penstock;

constexpr std::size_t records_each_time = 16'384;
constexpr std::size_t budget_bytes = std::size_t{8} << 20;
constexpr std::size_t batch_bytes = std::size_t{256} << 10;
constexpr const char* format_text = "order {} filled qty {} price {} sym {}";

struct order_format {
  static constexpr std::string_view text() { return format_text; }
};
using order = detail::compiled_statement<order_format, std::uint64_t, int, double, const char*>;
constexpr source_facts order_facts{format_text, __FILE__, "order", __LINE__};
constexpr detail::call_site order_site{order_facts, &order::lay_out, level::info};

/// A backend with one sink, and one thread's stream.
class alone {
 public:
  explicit alone(const sink_config& settings) {
    memory_.set_budget(budget_bytes);
    std::vector<std::unique_ptr<backend::output>> outputs;
    outputs.push_back(std::make_unique<backend::output>(
        sinks::make_sink(settings), std::make_shared<backend::line_layout>(settings.pattern, settings.control_chars, false),
        backend::output_settings{.name = "bench"}));
    std::vector<backend::route> table;
    table.push_back({"root", {outputs.front().get()}});
    routes_.publish(std::move(table));
    worker_.configure({}, std::move(outputs), [](const error_report&) {});
    stream_ = streams_.open(1);
  }
  ~alone() { worker_.outputs().front()->abandon(); }
  alone(const alone&) = delete;
  alone& operator=(const alone&) = delete;

  /// False: no memory for all of them.
  bool prepare() {
    const bench::call_values& with = bench::values();
    const std::uint64_t first_ticks = worker_.now().ticks - worker_.clock().ticks_of_ns(records_each_time * 10);
    for (std::size_t k = 0; k != records_each_time; ++k) {
      const order::arguments arguments(std::uint64_t{k}, static_cast<int>(k % 1000), with.prices[k % with.prices.size()],
                                       with.symbols[k % with.symbols.size()]);
      const std::size_t bytes = detail::record_bytes_for(arguments.bytes());
      if (stream_->chunk_rest_bytes() < bytes) {
        transport::chunk* const opened = memory_.take(transport::chunk_kind::block, bytes + sizeof(transport::chunk));
        if (opened == nullptr) return false;
        stream_->open_chunk(opened);
      }
      auto* const header = reinterpret_cast<detail::record_header*>(stream_->write);
      *header = {.size_word = detail::size_word_for(arguments.bytes()),
                 .logger_word = 0,
                 .time_ticks = first_ticks + worker_.clock().ticks_of_ns(static_cast<std::int64_t>(k) * 10),
                 .site = &order_site};
      arguments.store(reinterpret_cast<std::byte*>(header + 1));
      detail::count_accepted(*stream_, level::info);
      detail::commit(*stream_, bytes, [this] { stream_->announce_if_parked(); });
    }
    return true;
  }

  void take_all() {
    while (worker_.turn(worker_.now(), true)) {
    }
  }

 private:
  transport::exchange memory_;
  transport::registry streams_{memory_};
  backend::route_table routes_;
  backend::worker worker_{memory_, streams_, routes_};
  transport::thread_stream* stream_ = nullptr;
};

void backend_alone(benchmark::State& state, const sink_config& settings) {
  alone one(settings);
  for (auto step : state) {
    static_cast<void>(step);
    if (!one.prepare()) {
      state.SkipWithError("the records do not fit the memory budget");
      return;
    }
    const auto begin = std::chrono::steady_clock::now();
    one.take_all();
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  // Shown as the time of one record: "4ns" behind `record` is 4e-9.
  state.counters["record"] = benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(records_each_time),
                                                benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void backend_to_null(benchmark::State& state) {
  sink_config settings;
  settings.type = "null";
  backend_alone(state, settings);
}
// The numbers of iterations are fixed for the sake of the file: 100 MB.
BENCHMARK(backend_to_null)->UseManualTime()->Iterations(256)->Unit(benchmark::kMillisecond);

void backend_to_file(benchmark::State& state) {
  const bench::scratch_folder folder(".");
  sink_config settings;
  settings.path = folder.target();
  backend_alone(state, settings);
}
BENCHMARK(backend_to_file)->UseManualTime()->Iterations(64)->Unit(benchmark::kMillisecond);

void memcpy_of_the_lines(benchmark::State& state) {
  const std::string line = "2026-12-01T09:17:03.481614+00:00 info     [13837] root: order 8192 filled qty 192 price 171.68 sym BTCUSD\n";
  std::string source;
  for (std::size_t k = 0; k != records_each_time; ++k) source += line;
  std::vector<char> batch(batch_bytes);
  for (auto step : state) {
    static_cast<void>(step);
    for (std::size_t at = 0; at < source.size(); at += batch_bytes) {
      std::memcpy(batch.data(), source.data() + at, std::min(batch_bytes, source.size() - at));
      benchmark::ClobberMemory();
    }
  }
  state.counters["record"] = benchmark::Counter(static_cast<double>(state.iterations()) * static_cast<double>(records_each_time),
                                                benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(memcpy_of_the_lines)->Unit(benchmark::kMillisecond);

}  // namespace
