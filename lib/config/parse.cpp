// SPDX-License-Identifier: MIT
#include "lib/config/parse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>
#include <utility>

#include "lib/config/check.hpp"
#include "lib/config/values.hpp"

namespace penstock {
namespace detail {
namespace {

class config_reader {
 public:
  explicit config_reader(report& faults) : faults_(faults) {}

  config read(const node& root) {
    for (const node& child : root.children) {
      faults_.place(path_to("", child.key), child.key_at);
      if (child.key == "backend" && is_table(child, "[backend]")) read_backend(child);
      if (child.key == "sinks" && is_table(child, "[sinks.app]")) read_sinks(child);
      if (child.key == "loggers" && is_table(child, "[loggers.root]")) read_loggers(child);
      if (child.key != "backend" && child.key != "sinks" && child.key != "loggers") unknown_at_top(child);
    }
    return std::move(config_);
  }

 private:
  bool is_table(const node& n, std::string_view example) {
    if (n.kind != node_kind::table) faults_.add(path_to("", n.key), fmt::format("this is not a table; write it as {}", example));
    return n.kind == node_kind::table;
  }

  void unknown_at_top(const node& n) {
    static constexpr std::array<std::string_view, 3> tables{"backend", "sinks", "loggers"};
    std::string remedy = "; the tables are [backend], [sinks.NAME] and [loggers.NAME]";
    if (const std::string_view near = nearest(n.key, tables); !near.empty()) {
      remedy = fmt::format("; did you mean {}?", near);
    } else if (const std::string_view table = table_with(n.key); !table.empty()) {
      remedy = fmt::format("; it belongs in {}", table);
    }
    faults_.add_at(n.key_at, path_to("", n.key), fmt::format("unknown {}{}", n.kind == node_kind::table ? "table" : "key", remedy));
  }

  /// The table that has a key of this name.
  static std::string_view table_with(std::string_view name) {
    if (find_key(section::backend, name) != nullptr) return "[backend]";
    if (find_key(section::sink, name) != nullptr) return "[sinks.NAME]";
    if (find_key(section::logger, name) != nullptr) return "[loggers.NAME]";
    return find_key(section::rotate, name) != nullptr ? "the rotate table of a sink" : std::string_view{};
  }

  void unknown_key(section in, const node& n, const std::string& path) {
    std::vector<std::string_view> names = key_names(in);
    if (in == section::sink) names.emplace_back("rotate");
    std::string remedy;
    if (const std::string_view near = nearest(n.key, names); !near.empty()) {
      remedy = fmt::format("did you mean {}?", near);
    } else if (const std::string_view table = table_with(n.key); !table.empty()) {
      remedy = fmt::format("it belongs in {}", table);
    } else {
      remedy = fmt::format("the keys here are {}", list_text(names));
    }
    faults_.add_at(n.key_at, path, fmt::format("unknown key; {}", remedy));
  }

  /// Reads one key of a table into its owner.
  void read_key(section in, owner to, const node& n, const std::string& base) {
    const std::string path = path_to(base, n.key);
    const key* k = find_key(in, n.key);
    if (k == nullptr) return unknown_key(in, n, path);
    faults_.place(path, n.at);
    auto [held, problem] = read_value(*k, n);
    if (!problem.empty()) return faults_.add(path, problem);
    // Judged here, where the value is as it was written: a member may be narrower than what TOML can say.
    if (const std::string range = range_problem(*k, held); !range.empty()) return faults_.add(path, range);
    k->write(to, held);
  }

  void read_backend(const node& table) {
    for (const node& child : table.children) read_key(section::backend, &config_.backend, child, "backend");
  }

  void read_sinks(const node& table) {
    for (const node& child : table.children) {
      const std::string path = path_to("sinks", child.key);
      faults_.place(path, child.kind == node_kind::table ? child.at : child.key_at);
      if (child.kind != node_kind::table) {
        faults_.add(path, find_key(section::sink, child.key) != nullptr
                              ? "this key belongs to a sink, which is a table of its own, such as [sinks.app]"
                              : "a sink is a table; write it as [sinks." + key_text(child.key) + "]");
        continue;
      }
      read_sink(child, path, config_.sinks[child.key]);
    }
  }

  void read_sink(const node& table, const std::string& base, sink_config& sink) {
    bool typed = false;
    for (const node& child : table.children) {
      typed = typed || child.key == "type";
      if (child.key != "rotate") {
        read_key(section::sink, &sink, child, base);
        continue;
      }
      const std::string path = path_to(base, "rotate");
      faults_.place(path, child.at);
      if (child.kind != node_kind::table) {
        faults_.add(path, "rotate is a table; write rotate = { size = \"1 GiB\", keep = 10 }");
        continue;
      }
      for (const node& part : child.children) read_key(section::rotate, &sink.rotate, part, path);
    }
    if (!typed) faults_.add(path_to(base, "type"), fmt::format("type is missing; write type = and one of {}", choices_of_type()));
  }

  static std::string choices_of_type() { return range_text(*find_key(section::sink, "type")); }

  void read_loggers(const node& table) {
    for (const node& child : table.children) {
      if (child.kind == node_kind::table) {
        read_logger(child, child.key);
        continue;
      }
      const std::string path = path_to("loggers", child.key);
      faults_.add_at(child.key_at, path,
                     find_key(section::logger, child.key) != nullptr
                         ? "this key belongs to a logger, which is a table of its own, such as [loggers.root]"
                         : "a logger is a table; write it as [loggers." + key_text(child.key) + "]");
    }
  }

  /// `name` is the whole name: a table within a logger's table is a logger of its own, whose name goes on after a dot.
  void read_logger(const node& table, const std::string& name) {
    const bool only_children = !table.children.empty() && std::all_of(table.children.begin(), table.children.end(), [](const node& child) {
      return child.kind == node_kind::table && find_key(section::logger, child.key) == nullptr;
    });
    if (!only_children) define_logger(table, name);
    for (const node& child : table.children) {
      if (child.kind == node_kind::table && find_key(section::logger, child.key) == nullptr) read_logger(child, name + "." + child.key);
    }
  }

  void define_logger(const node& table, const std::string& name) {
    const std::string base = "loggers." + name;
    const position earlier = faults_.place_of(base);
    if (!config_.loggers.try_emplace(name).second) {
      const position at = std::max(earlier, table.at);
      faults_.add_at(
          at, base,
          fmt::format("this logger is defined twice, in lines {} and {}; [loggers.a.b] and [loggers.\"a.b\"] are one logger: join them",
                      std::min(earlier, table.at).line, at.line));
      return;
    }
    faults_.place(base, table.at);
    for (const node& child : table.children) {
      const key* k = find_key(section::logger, child.key);
      if (child.kind != node_kind::table || k != nullptr) read_key(section::logger, &config_.loggers[name], child, base);
    }
  }

  report& faults_;
  config config_;
};

struct close_file {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

[[noreturn]] void refuse(const std::filesystem::path& file, int error) {
  throw config_error(fmt::format("{}:1:1: the file cannot be read: {}; check its name and its permissions", file.string(),
                                 std::generic_category().message(error)));
}

}  // namespace

config read_config(std::string_view text, std::string_view source_name, report& faults) {
  const node root = read_document(text, source_name);
  config settings = config_reader{faults}.read(root);
  check_config(settings, faults);
  return settings;
}

std::string read_text(const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) refuse(file, EISDIR);
  const std::unique_ptr<std::FILE, close_file> stream{std::fopen(file.c_str(), "re")};
  if (stream == nullptr) refuse(file, errno);
  std::string text;
  std::array<char, 16384> piece;
  // One byte more than allowed tells a file that is too long from one that just fits; read_document() says so.
  while (text.size() <= document_bytes_max) {
    const std::size_t got = std::fread(piece.data(), 1, piece.size(), stream.get());
    text.append(piece.data(), got);
    if (got < piece.size()) break;
  }
  if (std::ferror(stream.get()) != 0) refuse(file, errno);
  return text;
}

}  // namespace detail

config parse_config(std::string_view toml, std::string_view source_name) {
  detail::report faults{source_name};
  config settings = detail::read_config(toml, source_name, faults);
  faults.throw_if_faulty();
  return settings;
}

config load_config(const std::filesystem::path& file) { return parse_config(detail::read_text(file), file.string()); }

}  // namespace penstock
