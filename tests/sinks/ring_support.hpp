// SPDX-License-Identifier: MIT
// What the tests of the mmap ring share: a small ring, and all that a reader gives of one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

#include <penstock/config.hpp>
#include <penstock/sink.hpp>

#include "sinks/factory.hpp"
#include "sinks/ring_reader.hpp"

namespace penstock::testing {

inline sink_config small_ring(const std::filesystem::path& path, std::size_t size_bytes = 64 << 10) {
  sink_config settings;
  settings.type = "mmap_ring";
  settings.path = path;
  settings.size = size_bytes;
  settings.batch_size = 4096;
  return settings;
}

/// The whole lines of a ring, oldest first.
inline std::string lines_in(sinks::ring_reader& reader) {
  std::string text;
  while (reader.read(text)) {
  }
  return text;
}
inline std::string lines_in(const std::filesystem::path& path) {
  sinks::ring_reader reader(path);
  return lines_in(reader);
}

/// The text that a call throws; empty if it does not.
template <class Call>
std::string refusal_of(Call call) {
  try {
    static_cast<void>(call());
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

}  // namespace penstock::testing
