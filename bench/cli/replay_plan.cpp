// SPDX-License-Identifier: MIT
#include "bench/cli/replay_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include <penstock/base/error.hpp>

#include "lib/config/units.hpp"

namespace penstock::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t ring_bytes_min = std::size_t{1} << 20;
/// More than a replay should take of a disk unasked; the blocks of a ring are allocated at once.
constexpr std::size_t ring_bytes_max = std::size_t{1} << 30;

bool has_file(const sink_config& sink) noexcept { return sink.type != "null" && sink.type != "console"; }

/// Room for all lines, the frame headers in front of each batch, and what the ring keeps free for the next ones.
std::size_t ring_bytes_for(std::uint64_t line_bytes) noexcept {
  constexpr std::uint64_t step_bytes = ring_bytes_min;
  const std::uint64_t wanted_bytes = line_bytes + line_bytes / 8 + 2 * step_bytes;
  return static_cast<std::size_t>(std::min<std::uint64_t>(ring_bytes_max, (wanted_bytes + step_bytes - 1) / step_bytes * step_bytes));
}

/// A ring has the size that it was made with; a new one gets what the lines need.
void size_ring(sink_config& sink, std::uint64_t line_bytes, std::vector<std::string>& remarks) {
  std::error_code none;
  const std::uintmax_t there_bytes = fs::file_size(sink.path, none);
  sink.size = !none && there_bytes > 0 ? static_cast<std::size_t>(there_bytes) : ring_bytes_for(line_bytes);
  if (line_bytes > sink.size)
    remarks.push_back(fmt::format("the ring of {} holds less than the {} bytes that are sent: it keeps the newest lines",
                                  detail::size_text(sink.size), line_bytes));
}

void apply_options(sink_config& sink, const replay_call& call, const fs::path& temporary_out) {
  if (!call.sink.empty()) sink.type = call.sink;
  if (!call.out.empty()) sink.path = call.out;
  if (call.batch_size) sink.batch_size = call.batch_size;
  if (!has_file(sink) && sink.type == "null" && !call.out.empty())
    throw config_error("the null sink writes nothing, so that --out has no meaning; leave it out, or choose another --sink");
  // A type that needs no file does not take over that of the config file's sink.
  if (!call.sink.empty() && !has_file(sink)) sink.path = call.out;
  if (sink.path.empty() && has_file(sink)) sink.path = temporary_out;
}

/// The sinks of the file that the root logger writes to; the options change them if there is only one.
void use_config_file(replay_plan& plan, const replay_call& call, const fs::path& temporary_out) {
  plan.settings = load_config(call.config_file);
  const auto root = plan.settings.loggers.find("root");
  if (root != plan.settings.loggers.end() && root->second.sinks)
    plan.sinks = *root->second.sinks;
  else
    for (const auto& [name, sink] : plan.settings.sinks) plan.sinks.push_back(name);
  const bool options = !call.sink.empty() || !call.out.empty() || call.batch_size;
  if (plan.sinks.empty() && !options)
    throw config_error(call.config_file.string() + ": its root logger has no sink; add a table [sinks.NAME], or name a sink by --sink");
  if (!options) return;
  if (plan.sinks.size() > 1)
    throw config_error(
        fmt::format("{}: its root logger has {} sinks, so that --sink, --out and --batch-size could mean each of them; leave "
                    "these out, or change the file",
                    call.config_file.string(), plan.sinks.size()));
  if (plan.sinks.empty()) plan.sinks.push_back("replay");
  apply_options(plan.settings.sinks[plan.sinks.front()], call, temporary_out);
}

/// Opens no file that gets no line.
void drop_unused_sinks(replay_plan& plan) {
  std::set<std::string> used;
  for (std::string name : plan.sinks) {
    while (!name.empty() && used.insert(name).second) {
      const auto sink = plan.settings.sinks.find(name);
      name = sink == plan.settings.sinks.end() ? std::string() : sink->second.failover;
    }
  }
  std::erase_if(plan.settings.sinks, [&](const auto& sink) { return !used.contains(sink.first); });
}

/// Lines come out as they went in, whatever the file says.
void force_raw_lines(replay_plan& plan, bool from_file) {
  for (auto& [name, sink] : plan.settings.sinks) {
    sink.pattern = "{message}";
    sink.control_chars = control_chars_policy::raw;
  }
  plan.settings.loggers.clear();
  plan.settings.loggers["root"] = {.level = level::info, .sinks = plan.sinks};
  if (from_file)
    plan.remarks.push_back("pattern = \"{message}\", control_chars = \"raw\" and level = \"info\" stand in for what the file says");
}

/// Reading a log and appending to it at the same time would have no end.
void refuse_to_write_a_source(const replay_plan& plan, const std::deque<log_file>& logs) {
  for (const auto& [name, sink] : plan.settings.sinks) {
    for (const log_file& log : logs) {
      std::error_code none;
      if (!sink.path.empty() && fs::equivalent(sink.path, log.path(), none) && fs::is_regular_file(sink.path, none))
        throw config_error(fmt::format("{} is read and would be written too; name another output by --out", log.path().string()));
    }
  }
}

verified_output output_to_verify(const std::string& name, const sink_config& sink) {
  const auto refuse = [&](const std::string& why) {
    throw config_error(fmt::format("--verify cannot read back the sink {} (type {}): {}", name, sink.type, why));
  };
  if (!has_file(sink)) refuse("it writes no file; choose another --sink, or leave --verify out");
  if (sink.rotate.enabled()) refuse("it rotates, so that the lines stand in several files; leave `rotate` out");
  std::error_code none;
  if (fs::exists(sink.path, none) && !fs::is_regular_file(fs::weakly_canonical(sink.path, none), none))
    refuse(sink.path.string() + " is no regular file; name another by --out");
  const std::uintmax_t bytes = fs::file_size(sink.path, none);
  if (!none && bytes > 0)
    refuse(fmt::format("{} holds {} bytes already, and the whole file is compared; remove it, or name another by --out", sink.path.string(),
                       bytes));
  return {.sink = name, .path = sink.path, .ring = sink.type == "mmap_ring"};
}

}  // namespace

std::uint64_t replay_bytes(const replay_call& call, const std::deque<log_file>& logs) noexcept {
  std::uint64_t bytes = 0;
  for (const log_file& log : logs) bytes += log.line_bytes();
  return bytes * call.repeat;
}

bool needs_temporary_out(const replay_call& call) noexcept {
  return call.out.empty() && call.config_file.empty() && call.sink != "null" && call.sink != "console";
}

replay_plan make_replay_plan(const replay_call& call, const std::deque<log_file>& logs, const std::filesystem::path& temporary_out) {
  replay_plan plan;
  if (call.config_file.empty()) {
    plan.sinks.push_back("replay");
    apply_options(plan.settings.sinks["replay"], call, temporary_out);
    sink_config& sink = plan.settings.sinks["replay"];
    if (sink.type == "mmap_ring") size_ring(sink, replay_bytes(call, logs), plan.remarks);
  } else {
    use_config_file(plan, call, temporary_out);
  }
  drop_unused_sinks(plan);
  force_raw_lines(plan, !call.config_file.empty());
  validate(plan.settings);
  refuse_to_write_a_source(plan, logs);
  if (call.verify)
    for (const std::string& name : plan.sinks) plan.outputs.push_back(output_to_verify(name, plan.settings.sinks.at(name)));
  return plan;
}

}  // namespace penstock::cli
