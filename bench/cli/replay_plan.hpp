// SPDX-License-Identifier: MIT
// What a replay does, made from its call: the configuration that it starts, and which outputs can be read back.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <penstock/config.hpp>

#include "bench/cli/replay_input.hpp"

namespace penstock::cli {

struct replay_call {
  std::vector<std::filesystem::path> logs{};
  std::filesystem::path config_file{};      ///< empty: none
  std::string sink{};                       ///< empty: the config file's, or write
  std::filesystem::path out{};              ///< empty: the config file's, or a temporary file
  std::optional<std::size_t> batch_size{};  ///< bytes
  std::size_t threads = 1;
  std::size_t repeat = 1;
  bool verify = false;
};

/// An output that --verify reads back.
struct verified_output {
  std::string sink{};
  std::filesystem::path path{};
  bool ring = false;
};

struct replay_plan {
  config settings{};
  std::vector<std::string> sinks{};  ///< those that the lines go to, by name
  std::vector<verified_output> outputs{};
  std::vector<std::string> remarks{};  ///< what the caller did not ask for, or cannot have
};

/// Bytes of all lines that a replay sends.
std::uint64_t replay_bytes(const replay_call& call, const std::deque<log_file>& logs) noexcept;

/// True if the call names no output and its sink needs one: `temporary_out` of make_replay_plan() is then used.
bool needs_temporary_out(const replay_call& call) noexcept;

/// Errors: config_error, if the call contradicts itself, the config file is wrong, or an output cannot be verified.
replay_plan make_replay_plan(const replay_call& call, const std::deque<log_file>& logs, const std::filesystem::path& temporary_out);

}  // namespace penstock::cli
