// SPDX-License-Identifier: MIT
// The public functions.
#include <penstock/penstock.hpp>

#include "lib/engine/engine.hpp"

namespace penstock {

using engine::instance;

void start() { start(config{}); }

void start(const config& settings) {
  validate(settings);
  instance::get().start(settings, false);
}

void start(const std::filesystem::path& file) { instance::get().start(load_config(file), false); }

bool flush(std::chrono::nanoseconds timeout) { return instance::get().ask(backend::request_kind::flush, timeout); }
bool sync(std::chrono::nanoseconds timeout) { return instance::get().ask(backend::request_kind::sync, timeout); }
bool reopen(std::chrono::nanoseconds timeout) { return instance::get().ask(backend::request_kind::reopen, timeout); }
bool stop(std::chrono::nanoseconds timeout) { return instance::get().stop(timeout); }
stats_snapshot stats() { return instance::get().stats(); }
void on_error(void (*handler)(const error_report&) noexcept) { instance::get().on_error(handler); }

logger& get(std::string_view name) { return instance::get().loggers().get(name); }
void logger::set_level(level threshold) noexcept { instance::get().loggers().set_level(*this, threshold); }

}  // namespace penstock
