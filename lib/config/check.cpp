// SPDX-License-Identifier: MIT
#include "lib/config/check.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/config/pattern_check.hpp"
#include "lib/config/values.hpp"
#include "sinks/factory.hpp"

namespace penstock {
namespace detail {
namespace {

// The room of a batch is taken from the oldest frames: with fewer batches than this a reader would find next to nothing.
constexpr std::size_t ring_batches_min = 4;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::vector<std::string_view> names_of_sinks(const config& settings) {
  std::vector<std::string_view> names;
  for (const auto& [name, sink] : settings.sinks) names.emplace_back(name);
  return names;
}

/// "; did you mean x?" or "; the sinks are a, b".
std::string sink_remedy(std::string_view name, const std::vector<std::string_view>& names) {
  if (names.empty()) return "; define it as [sinks." + key_text(name) + "]";
  const std::string_view near = nearest(name, names);
  if (!near.empty()) return fmt::format("; did you mean {}?", in_quotes(near));
  constexpr std::size_t shown_max = 20;
  if (names.size() > shown_max) return fmt::format("; define it as [sinks.{}]", key_text(name));
  return fmt::format("; the sinks are {}", list_text(names));
}

/// Ranges, and whether the key is built, for one table.
void check_table(section in, const_owner from, std::string_view base, report& faults) {
  for (const key& k : key_table()) {
    if (k.in != in) continue;
    const std::string path = path_to(base, k.name);
    const value held = k.read(from);
    const value usual = default_of(k);
    if (!k.built && held != usual)
      faults.add(path, fmt::format("{} is not built yet; remove it or set it to {}", k.name, value_text(k, usual)));
    // The default is always good; an empty batch_size means the sink's own.
    if (held == usual) continue;
    if (const std::string problem = range_problem(k, held); !problem.empty()) faults.add(path, problem);
  }
}

/// Keys that the sink's type does not have.
void check_belonging(section in, const_owner from, sink_types type, std::string_view type_name, std::string_view base, report& faults) {
  for (const key& k : key_table()) {
    if (k.in != in || (k.types & type) != 0) continue;
    // A file sink's table may be switched to null, to see what everything before the sink costs, and back.
    if (type == type_null && (k.types & types_file) == types_file) continue;
    const std::string path = path_to(base, k.name);
    if (!faults.mentions(path) && k.read(from) == default_of(k)) continue;
    faults.add(path, fmt::format("{} belongs to sinks of type {}, not to {}; remove it or change the type", k.name, types_text(k.types),
                                 type_name));
  }
}

void check_pages(const sink_config& sink, std::size_t memory_bytes, std::string_view base, report& faults) {
  const std::size_t page = page_bytes();
  const std::string batch_path = path_to(base, "batch_size");
  const std::string size_path = path_to(base, "size");
  if (sink.batch_size && !faults.faulty(batch_path)) {
    const std::size_t bytes = *sink.batch_size;
    if (bytes % page != 0) {
      faults.add(batch_path, fmt::format("{} is not a multiple of the page size {}; try \"{}\"", size_text(bytes), page,
                                         size_text(rounded_up(bytes, page))));
    } else if (bytes > memory_bytes) {
      faults.add(batch_path, fmt::format("{} is larger than backend.memory, {}; try \"{}\" or more memory", size_text(bytes),
                                         size_text(memory_bytes), size_text(memory_bytes / page * page)));
    }
  }
  if (sink.type != "mmap_ring" || faults.faulty(size_path)) return;
  if (sink.size % page != 0) {
    faults.add(size_path, fmt::format("{} is not a multiple of the page size {}; try \"{}\"", size_text(sink.size), page,
                                      size_text(rounded_up(sink.size, page))));
    return;
  }
  // A batch size that nobody asked for gives way to a small ring (sinks/ring_file.cpp); one that was asked for is not cut in silence.
  if (!sink.batch_size || faults.faulty(batch_path)) return;
  const std::size_t least = ring_batches_min * *sink.batch_size + page;
  if (sink.size < least) {
    faults.add(size_path, fmt::format("{} is too small for the file's head and {} batches of {}; try \"{}\" or a smaller batch_size",
                                      size_text(sink.size), ring_batches_min, size_text(*sink.batch_size), size_text(least)));
  }
}

void check_rotate(const rotate_config& rotate, std::string_view base, report& faults) {
  constexpr std::uint64_t rotate_bytes_min = 4096;
  const std::string path = path_to(base, "rotate");
  if (rotate.size != 0 && rotate.size < rotate_bytes_min)
    faults.add(path_to(path, "size"),
               fmt::format("{} is too small; the least is \"{}\"", size_text(rotate.size), size_text(rotate_bytes_min)));
  if (!rotate.enabled() && rotate != rotate_config{} && !faults.faulty(path_to(path, "size")) && !faults.faulty(path_to(path, "every")))
    faults.add(path, "nothing says when to rotate; add size or every, such as rotate = { size = \"1 GiB\" }");
}

/// The type itself, and what depends on it. A type that is not known is a fault, and nothing more is said of it.
void check_type(const sink_config& sink, std::string_view base, report& faults) {
  const std::string type_path = path_to(base, "type");
  if (faults.faulty(type_path)) return;
  if (bit_of_type(sink.type) == type_registered && !sinks::known_sink_type(sink.type)) {
    const std::string_view near = nearest(sink.type, built_in_types());
    const std::string remedy = near.empty() ? std::string{"write "} : fmt::format("did you mean \"{}\"? It is ", near);
    faults.add(type_path, fmt::format("unknown sink type {}; {}one of {}, or a type that the program registered before",
                                      in_quotes(sink.type), remedy, list_text(built_in_types())));
    return;
  }
  const sink_types type = bit_of_type(sink.type);
  check_belonging(section::sink, &sink, type, sink.type, base, faults);
  check_belonging(section::rotate, &sink.rotate, type, sink.type, path_to(base, "rotate"), faults);
  const std::string path = path_to(base, "path");
  if ((type & types_file) != 0 && type != type_registered && sink.path.empty() && !faults.faulty(path)) {
    faults.add(path, fmt::format("{}; a sink of type {} needs one, such as path = \"logs/app.log\"",
                                 faults.mentions(path) ? "the path is empty" : "path is missing", sink.type));
  }
  if (type == type_write && sink.page_cache == page_cache_policy::direct) {
    faults.add(path_to(base, "page_cache"),
               "\"direct\" (O_DIRECT) needs aligned offsets, which a write sink cannot keep while others append to its file; use type = "
               "\"pwrite\" or "
               "\"io_uring\", or page_cache = \"drop\"");
  }
}

void check_failover(const config& settings, std::string_view name, const sink_config& sink, std::string_view base, report& faults) {
  const std::string path = path_to(base, "failover");
  if (sink.failover.empty() || faults.faulty(path)) return;
  if (settings.sinks.find(sink.failover) == settings.sinks.end()) {
    faults.add(path, fmt::format("there is no sink {}{}", in_quotes(sink.failover), sink_remedy(sink.failover, names_of_sinks(settings))));
    return;
  }
  std::set<std::string_view> seen{name};
  for (auto next = settings.sinks.find(sink.failover); next != settings.sinks.end(); next = settings.sinks.find(next->second.failover)) {
    if (seen.insert(next->first).second) continue;
    faults.add(path, "failover leads in a circle; the last sink of the chain must have none");
    return;
  }
}

void check_sink(const config& settings, std::string_view name, const sink_config& sink, report& faults) {
  const std::string base = path_to("sinks", name);
  const bool printable = std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  if (name.empty() || !printable) faults.add(base, "a sink's name is a word without control characters, such as [sinks.app]");
  check_table(section::sink, &sink, base, faults);
  check_table(section::rotate, &sink.rotate, path_to(base, "rotate"), faults);
  check_type(sink, base, faults);
  check_pages(sink, settings.backend.memory, base, faults);
  check_rotate(sink.rotate, base, faults);
  check_failover(settings, name, sink, base, faults);
  if (const auto problem = check_pattern(sink.pattern)) faults.add(path_to(base, "pattern"), problem->text);
}

/// Names are words with dots between them.
std::string logger_name_problem(std::string_view name) {
  if (name.empty() || name.front() == '.' || name.back() == '.' || name.find("..") != std::string_view::npos)
    return fmt::format("{} is not a logger's name; write words with dots between them, such as [loggers.net.http]", in_quotes(name));
  const bool printable = std::none_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
  return printable ? std::string{} : fmt::format("the logger's name {} holds a control character; remove it", in_quotes(name));
}

void check_logger(const std::vector<std::string_view>& sink_names, std::string_view name, const logger_config& logger, report& faults) {
  const std::string base = fmt::format("loggers.{}", name);
  if (const std::string problem = logger_name_problem(name); !problem.empty()) faults.add(base, problem);
  check_table(section::logger, &logger, base, faults);
  if (!logger.sinks) return;
  std::set<std::string_view> seen;
  for (const std::string& sink : *logger.sinks) {
    const std::string path = path_to(base, "sinks");
    if (!std::binary_search(sink_names.begin(), sink_names.end(), std::string_view{sink}))
      faults.add(path, fmt::format("there is no sink {}{}", in_quotes(sink), sink_remedy(sink, sink_names)));
    if (!seen.insert(sink).second)
      faults.add(path, fmt::format("{} is named twice; each line would be written twice. Remove one", in_quotes(sink)));
  }
}

}  // namespace

std::size_t page_bytes() noexcept {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

std::string_view parent_of(std::string_view logger) noexcept {
  const std::size_t dot = logger.rfind('.');
  return dot == std::string_view::npos ? std::string_view{"root"} : logger.substr(0, dot);
}

void check_config(const config& settings, report& faults) {
  check_table(section::backend, &settings.backend, "backend", faults);
  const key* rescue = find_key(section::backend, "rescue_file");
  if (rescue->built && !settings.backend.rescue_file.empty() && settings.backend.format == format_mode::backend) {
    faults.add("backend.format",
               "\"backend\" keeps arguments, which cannot be read from a rescue file after the process died; write \"caller\", or remove "
               "rescue_file");
  }
  for (const auto& [name, sink] : settings.sinks) check_sink(settings, name, sink, faults);
  check_files(settings, faults);
  const std::vector<std::string_view> sink_names = names_of_sinks(settings);
  for (const auto& [name, logger] : settings.loggers) check_logger(sink_names, name, logger, faults);
}

}  // namespace detail

std::size_t effective_batch_bytes(const sink_config& sink) noexcept {
  if (sink.batch_size) return *sink.batch_size;
  const std::size_t page = detail::page_bytes();
  if (sink.type == "console") return page;
  // Source: docs/sinks.md; the sweep over batch sizes of `penstock bench sinks`.
  constexpr std::size_t kib = 1024;
  const bool past_the_cache = sink.page_cache != page_cache_policy::keep;
  const std::size_t best = sink.type == "mmap_ring" ? 64 * kib : past_the_cache ? 1024 * kib : 256 * kib;
  return detail::rounded_up(best, page);
}

void validate(const config& settings) {
  detail::report faults;
  detail::check_config(settings, faults);
  faults.throw_if_faulty();
}

}  // namespace penstock
