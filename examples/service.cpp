// SPDX-License-Identifier: MIT
#include <penstock/penstock.hpp>

#include <thread>

void fill(int id, double price) { PENSTOCK_LOG_INFO(penstock::get("orders"), "order {} filled at {:.2f}", id, price); }

int main() {
  penstock::config settings;
  settings.sinks["app"] = {.type = "write", .path = "service.log"};
  settings.sinks["screen"] = {.type = "console"};
  settings.loggers["root"] = {.level = penstock::level::info};
  penstock::start(settings);

  PENSTOCK_INFO("listening on port {}", 8080);
  std::thread worker([] {
    for (int id = 1; id <= 3; ++id) fill(id, 99.5 + id);
  });
  worker.join();
  PENSTOCK_DEBUG("not shown, and its arguments are not evaluated");
  penstock::get("orders").warning("{} orders, {:.1f} % of the budget used", 3, 87.5);
  return penstock::stop() ? 0 : 1;
}
