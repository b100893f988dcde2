// SPDX-License-Identifier: MIT
// How are parts of a program told apart, and made louder while it runs? By named loggers, which form a tree.
#include <string>

#include <penstock/penstock.hpp>

namespace {

int evaluated_count = 0;
std::string expensive() { return "dump number " + std::to_string(++evaluated_count); }

}  // namespace

int main() {
  penstock::config settings;
  settings.sinks["screen"] = {.type = "console", .pattern = "{level} {logger}: {message}"};
  settings.loggers["root"] = {.level = penstock::level::warning};
  settings.loggers["db.slow"] = {.level = penstock::level::trace};
  penstock::start(settings);

  // A logger lives for ever: look it up once and keep the reference.
  penstock::logger& db = penstock::get("db");
  penstock::logger& pool = penstock::get("db.pool");
  penstock::logger& slow = penstock::get("db.slow");

  PENSTOCK_LOG_DEBUG(pool, "not shown, not evaluated: {}", expensive());
  PENSTOCK_LOG_TRACE(slow, "has a level of its own");

  db.set_level(penstock::level::debug);  // at once, and for children without a level of their own
  PENSTOCK_LOG_DEBUG(pool, "after set_level: {}", expensive());

  penstock::get("root").set_level(penstock::level::critical);
  PENSTOCK_ERROR("not shown");
  if (pool.enabled(penstock::level::debug)) pool.debug("db still decides for {}", pool.name());
  return penstock::stop() ? 0 : 1;
}

//> trace db.slow: has a level of its own
//> debug db.pool: after set_level: dump number 1
//> debug db.pool: db still decides for db.pool
