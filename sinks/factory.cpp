// SPDX-License-Identifier: MIT
#include "sinks/factory.hpp"

#include <array>
#include <map>
#include <mutex>
#include <string>

#include <penstock/base/error.hpp>

#include "sinks/rotating_sink.hpp"

namespace penstock {
namespace sinks {
namespace {

struct built_in {
  std::string_view type;
  std::unique_ptr<sink> (*make)(const sink_config& settings);
  bool rotates = false;
};

constexpr std::array built_ins{
    built_in{"write", make_write_sink, true},   built_in{"pwrite", make_pwrite_sink, true},
    built_in{"mmap_ring", make_mmap_ring_sink}, built_in{"io_uring", make_io_uring_sink, true},
    built_in{"stdio", make_stdio_sink, true},   built_in{"console", make_console_sink},
    built_in{"null", make_null_sink},
};

const built_in* find_built_in(std::string_view type) noexcept {
  for (const built_in& one : built_ins)
    if (one.type == type) return &one;
  return nullptr;
}

/// The types that programs registered. Never destroyed: a program may log from its last static destructor.
struct registry {
  std::mutex mutex;
  std::map<std::string, sink_factory, std::less<>> factories;
};

registry& registered() {
  static registry& only = *new registry;
  return only;
}

std::string known_types() {
  std::string list;
  for (const built_in& one : built_ins) list += (list.empty() ? "" : ", ") + std::string(one.type);
  const std::lock_guard lock(registered().mutex);
  for (const auto& [type, factory] : registered().factories) list += ", " + type;
  return list;
}

}  // namespace

std::unique_ptr<sink> make_sink(const sink_config& settings) {
  if (const built_in* const one = find_built_in(settings.type))
    return one->rotates && settings.rotate.enabled() ? make_rotating_sink(settings, one->make) : one->make(settings);
  sink_factory factory;
  {
    const std::lock_guard lock(registered().mutex);
    const auto found = registered().factories.find(settings.type);
    if (found != registered().factories.end()) factory = found->second;
  }
  if (!factory)
    throw config_error("sink type \"" + settings.type + "\" is unknown: use one of " + known_types() +
                       ", or call register_sink_type() before start()");
  std::unique_ptr<sink> made = factory(settings);
  if (made == nullptr) throw config_error("the factory of sink type \"" + settings.type + "\" gave no sink");
  return made;
}

bool known_sink_type(std::string_view type) noexcept {
  if (find_built_in(type) != nullptr) return true;
  const std::lock_guard lock(registered().mutex);
  return registered().factories.find(type) != registered().factories.end();
}

}  // namespace sinks

void register_sink_type(std::string_view type, sink_factory factory) {
  if (type.empty()) throw config_error("a sink type needs a name: register_sink_type() was given an empty one");
  if (!factory) throw config_error("sink type \"" + std::string(type) + "\" needs a factory: register_sink_type() was given an empty one");
  if (sinks::find_built_in(type) != nullptr)
    throw config_error("sink type \"" + std::string(type) + "\" is built in: register yours under another name");
  const std::lock_guard lock(sinks::registered().mutex);
  if (!sinks::registered().factories.emplace(std::string(type), std::move(factory)).second)
    throw config_error("sink type \"" + std::string(type) + "\" is registered already: give the second one another name");
}

}  // namespace penstock
