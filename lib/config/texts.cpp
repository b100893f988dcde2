// SPDX-License-Identifier: MIT
#include "lib/config/texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "lib/config/check.hpp"
#include "lib/config/parse.hpp"
#include "lib/config/values.hpp"

namespace penstock::detail {
namespace {

/// The assignment with a short comment behind it.
void add_line(std::string& out, std::string_view assignment, std::string_view comment) {
  constexpr std::size_t comment_column = 33;
  if (comment.empty()) {
    out += fmt::format("{}\n", assignment);
  } else {
    out += fmt::format("{:<{}} # {}\n", assignment, comment_column, comment);
  }
}

/// "One budget …; "1 MiB" to "64 GiB"".
std::string comment_of(const key& k) {
  std::string comment{k.doc};
  if (const std::string range = range_text(k); !range.empty()) comment += ". " + range;
  if (!k.built) comment += ". Not built yet: only the default";
  return comment;
}

/// A sink's value as it takes effect: what is unset becomes what the sink uses.
value effective_value(const key& k, const_owner from) {
  const auto* sink = std::get_if<const sink_config*>(&from);
  if (sink != nullptr && k.name == "batch_size") return static_cast<std::int64_t>(effective_batch_bytes(**sink));
  return k.read(from);
}

/// Adds the line of one key, with whatever is said about it.
using line_writer = void (*)(std::string& out, const key& k, std::string_view name, const_owner from);

/// The keys of one table that a sink of these types has.
void add_keys(std::string& out, section in, const_owner from, sink_types types, line_writer add) {
  for (const key& k : key_table())
    if (k.in == in && (k.types & types) != 0) add(out, k, k.name, from);
}

/// `rotate` as dotted keys, which may carry a comment each.
void add_rotate(std::string& out, const rotate_config& rotate, sink_types types, line_writer add) {
  for (const key& k : key_table())
    if (k.in == section::rotate && (k.types & types) != 0) add(out, k, fmt::format("rotate.{}", k.name), &rotate);
}

void add_sink(std::string& out, std::string_view name, const sink_config& sink, line_writer add) {
  out += fmt::format("\n[{}]\n", path_to("sinks", name));
  const sink_types types = bit_of_type(sink.type);
  add_keys(out, section::sink, &sink, types, add);
  add_rotate(out, sink.rotate, types, add);
}

/// The meaning above, as somebody reads who has never seen the key.
void add_with_meaning(std::string& out, const key& k, std::string_view name, const_owner from) {
  out += fmt::format("# {}\n{} = {}\n", comment_of(k), name, value_text(k, effective_value(k, from)));
}

/// Says which values the file did not choose.
void add_with_origin(std::string& out, const key& k, std::string_view name, const_owner from) {
  const bool chosen = k.read(from) != default_of(k) || (k.in == section::sink && k.name == "type");
  add_line(out, fmt::format("{} = {}", name, value_text(k, effective_value(k, from))), chosen ? "" : "default");
}

/// `[loggers.a.b]`, or in quotes where TOML or this library would read the parts differently.
std::string logger_header(std::string_view name) {
  std::string path = "loggers";
  std::string_view rest = name;
  bool first = true;
  while (!rest.empty()) {
    const std::size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    if (!first && find_key(section::logger, part) != nullptr) return fmt::format("[loggers.{}]", in_quotes(name));
    path = path_to(path, part);
    rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
    first = false;
  }
  return fmt::format("[{}]", path);
}

struct inherited {
  value held;
  std::string_view from;  // whose value it is
  bool chosen;            // false: root says nothing, so that the engine fills it in
};

/// The value of a logger's key, its own or that of the nearest logger above that has one.
inherited effective_of_logger(const config& settings, std::string_view name, const key& k) {
  for (std::string_view at = name;; at = parent_of(at)) {
    const auto found = settings.loggers.find(at);
    if (found != settings.loggers.end()) {
      if (value held = k.read(&found->second); !std::holds_alternative<std::monostate>(held)) return {std::move(held), at, true};
    }
    if (at == "root") break;
  }
  if (k.name == "level") return {static_cast<std::int64_t>(level::info), "root", false};
  std::vector<std::string> all;
  std::transform(settings.sinks.begin(), settings.sinks.end(), std::back_inserter(all), [](const auto& sink) { return sink.first; });
  return {std::move(all), "root", false};
}

void add_logger(std::string& out, const config& settings, std::string_view name) {
  out += fmt::format("\n{}\n", logger_header(name));
  for (const key& k : key_table()) {
    if (k.in != section::logger) continue;
    const inherited effective = effective_of_logger(settings, name, k);
    std::string comment;
    if (effective.from != name) {
      comment = fmt::format("from {}", effective.from);
    } else if (!effective.chosen) {
      comment = k.name == "level" ? "default" : "default: every sink";
    }
    add_line(out, fmt::format("{} = {}", k.name, value_text(k, effective.held)), comment);
  }
}

}  // namespace

std::string defaults_text() {
  std::string out =
      "# All keys of a Penstock config file with their defaults. A sink table shows the keys of its type only.\n\n[backend]\n";
  const backend_config backend;
  add_keys(out, section::backend, &backend, types_all, add_with_meaning);
  for (const std::string_view type : built_in_types()) {
    sink_config sink;
    sink.type = type;
    if ((bit_of_type(type) & types_file) != 0) sink.path = fmt::format("logs/{}.{}", type, type == "mmap_ring" ? "ring" : "log");
    add_sink(out, type, sink, add_with_meaning);
  }
  out += "\n# Names form a dotted tree: what net.http does not say, net does, and at last root.\n[loggers.root]\n";
  // As the engine fills in a root that says nothing.
  logger_config root;
  root.level = level::info;
  root.sinks.emplace(built_in_types().begin(), built_in_types().end());
  add_keys(out, section::logger, &root, types_all, add_with_meaning);
  return out;
}

std::string explain_text(const config& settings) {
  config effective = settings;
  std::string out = "[backend]\n";
  add_keys(out, section::backend, &settings.backend, types_all, add_with_origin);
  if (settings.sinks.empty()) {
    sink_config console;
    console.type = "console";
    effective.sinks.emplace("console", std::move(console));
    out += "\n# No sink is defined: the console is used.";
  }
  for (const auto& [name, sink] : effective.sinks) add_sink(out, name, sink, add_with_origin);
  add_logger(out, effective, "root");
  for (const auto& [name, logger] : effective.loggers)
    if (name != "root") add_logger(out, effective, name);
  return out;
}

std::vector<std::string> faults_of(const std::filesystem::path& file) {
  try {
    report faults{file.string()};
    read_config(read_text(file), file.string(), faults);
    return faults.messages();
  } catch (const config_error& error) {
    return {error.what()};
  }
}

}  // namespace penstock::detail
