// SPDX-License-Identifier: MIT
// What became of my records, and how does a monitor learn of it? By stats(), two ledgers that add up, and by the same in the Prometheus
// text format.
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>

int main() {
  penstock::config settings;
  settings.sinks["app"] = {.type = "null"};
  penstock::start(settings);

  std::vector<std::thread> workers;
  for (int worker = 0; worker < 4; ++worker)
    workers.emplace_back([worker] {
      for (int i = 0; i < 1000; ++i) PENSTOCK_INFO("worker {} step {}", worker, i);
      PENSTOCK_WARNING("worker {} is done", worker);
    });
  for (std::thread& worker : workers) worker.join();
  if (!penstock::flush()) return 1;

  // After flush() nothing moves, and the sums are exact.
  const penstock::stats_snapshot now = penstock::stats();
  const penstock::front_stats& front = now.front;
  const bool front_adds_up = front.accepted.total() == front.taken.total() + front.dropped_total() + front.queued;
  std::cout << "accepted " << front.accepted.total() << ", taken " << front.taken.total() << ", dropped " << front.dropped_total()
            << ", queued " << front.queued << '\n';
  bool sinks_add_up = true;
  for (const penstock::sink_stats& sink : now.sinks) {
    sinks_add_up = sinks_add_up && sink.taken.total() == sink.written.total() + sink.lost.total() + sink.held.total();
    std::cout << sink.name << ": " << sink.written[penstock::level::warning] << " warnings among " << sink.written.total() << " lines\n";
  }
  std::cout << penstock::prometheus_text();  // what an HTTP handler for /metrics returns
  penstock::stop();
  return front_adds_up && sinks_add_up ? 0 : 1;
}

//> accepted 4004, taken 4004, dropped 0, queued 0
//> app: 4 warnings among 4004 lines
//> penstock_records_accepted_total{level="warning"} 4
//> penstock_sink_records_written_total{sink="app",level="info"} 4000
