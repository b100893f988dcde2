// SPDX-License-Identifier: MIT
#include "lib/config/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lib/config/pattern_check.hpp"

namespace penstock::detail {
namespace {

constexpr std::array<std::string_view, 7> kind_names{"a string", "an integer", "a floating-point number", "a boolean", "a date",
                                                     "an array", "a table"};

std::string_view name_of_kind(const node& n) { return kind_names[static_cast<std::size_t>(n.kind)]; }

/// What a key wants, in words, for a value of the wrong type.
std::string_view wanted(value_kind kind) {
  switch (kind) {
    case value_kind::boolean:
      return "true or false, without quotes";
    case value_kind::integer:
      return "an integer";
    case value_kind::size:
      return "a size in quotes";
    case value_kind::duration:
      return "a duration in quotes";
    case value_kind::text:
      return "a string";
    case value_kind::path:
      return "a path in quotes";
    case value_kind::choice:
      return "a word in quotes";
    case value_kind::sync:
      return "\"none\", \"batch\" or a duration in quotes";
    case value_kind::mode:
      return "octal permissions in quotes";
    case value_kind::names:
      return "an array of strings";
  }
  return {};
}

node_kind wanted_node(value_kind kind) {
  if (kind == value_kind::boolean) return node_kind::boolean;
  if (kind == value_kind::integer) return node_kind::integer;
  return kind == value_kind::names ? node_kind::array : node_kind::string;
}

/// The value that the writer of a wrong type may have meant, or the default, as TOML.
std::string example_for(const key& k, const node& from) {
  const bool positive = from.kind == node_kind::integer && from.integer >= 0;
  if (positive && k.kind == value_kind::size) return fmt::format("\"{} B\"", from.integer);
  if (positive && (k.kind == value_kind::duration || k.kind == value_kind::sync)) return fmt::format("\"{} ms\"", from.integer);
  if (positive && k.kind == value_kind::mode && from.integer <= 9999) return fmt::format("\"{:04}\"", from.integer);
  if (k.kind == value_kind::boolean && (from.string == "true" || from.string == "false")) return from.string;
  if (k.kind == value_kind::names && from.kind == node_kind::string) return fmt::format("[{}]", in_quotes(from.string));
  if (k.kind == value_kind::names) return "[\"app\"]";
  if (k.kind == value_kind::path) return "\"logs/app.log\"";
  if (k.kind == value_kind::choice) return in_quotes(k.choices.front());
  const std::string usual = value_text(k, default_of(k));
  return usual.empty() ? "\"256 KiB\"" : usual;
}

std::string choices_text(const key& k) {
  std::vector<std::string> words;
  std::transform(k.choices.begin(), k.choices.end(), std::back_inserter(words), [](std::string_view word) { return in_quotes(word); });
  return fmt::format("{}", fmt::join(words, " | "));
}

parsed<value> read_choice(const key& k, const std::string& text) {
  const auto found = std::find(k.choices.begin(), k.choices.end(), text);
  if (found != k.choices.end()) return {value{static_cast<std::int64_t>(found - k.choices.begin())}, {}};
  const std::string_view near = nearest(text, k.choices);
  if (near.empty()) return {{}, fmt::format("{} is not possible; write one of {}", in_quotes(text), choices_text(k))};
  return {{}, fmt::format("{} is not possible; did you mean {}? (one of {})", in_quotes(text), in_quotes(near), choices_text(k))};
}

parsed<value> read_sync(const std::string& text) {
  if (text == "none") return {value{sync_policy{}}, {}};
  if (text == "batch") return {value{sync_policy{.each_batch = true}}, {}};
  const auto [interval, problem] = parse_duration(text);
  if (!problem.empty()) {
    static constexpr std::array<std::string_view, 2> words{"none", "batch"};
    const std::string_view near = nearest(text, words);
    if (!near.empty()) return {{}, fmt::format("{} is not possible; did you mean {}?", in_quotes(text), in_quotes(near))};
    return {{}, fmt::format("{} is neither \"none\" nor \"batch\" nor a duration; try \"none\" or \"1 s\"", in_quotes(text))};
  }
  if (interval.count() == 0) return {{}, fmt::format("{} would be without end; write \"none\" or \"batch\"", in_quotes(text))};
  return {value{sync_policy{.interval = interval}}, {}};
}

parsed<value> read_mode(const std::string& text) {
  constexpr std::size_t digits_max = 4;
  const bool octal =
      !text.empty() && text.size() <= digits_max && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '7'; });
  if (!octal) return {{}, fmt::format("{} is not a file mode; write octal digits, such as \"0640\"", in_quotes(text))};
  std::int64_t mode = 0;
  for (const char c : text) mode = mode * 8 + (c - '0');
  return {value{mode}, {}};
}

parsed<value> read_names(const node& from) {
  std::vector<std::string> names;
  for (const node& child : from.children) {
    if (child.kind != node_kind::string)
      return {{}, fmt::format("the array holds {}; write names in quotes, such as [\"app\"]", name_of_kind(child))};
    names.push_back(child.string);
  }
  return {value{std::move(names)}, {}};
}

template <class T>
parsed<value> widened(parsed<T> from) {
  if (!from.ok()) return {{}, std::move(from.problem)};
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    return {value{static_cast<std::int64_t>(from.value)}, {}};
  } else {
    return {value{from.value}, {}};
  }
}

/// A number of the key's kind as TOML.
std::string number_text(value_kind kind, std::int64_t number) {
  if (kind == value_kind::size) return fmt::format("\"{}\"", size_text(static_cast<std::uint64_t>(number)));
  if (kind == value_kind::duration || kind == value_kind::sync)
    return fmt::format("\"{}\"", duration_text(std::chrono::nanoseconds{number}));
  if (kind == value_kind::mode) return fmt::format("\"{:04o}\"", number);
  return fmt::format("{}", number);
}

std::string bounds_problem(const key& k, std::int64_t number) {
  if (number < k.low) return fmt::format("{} is too small; the least is {}", number_text(k.kind, number), number_text(k.kind, k.low));
  if (number > k.high) return fmt::format("{} is too large; the most is {}", number_text(k.kind, number), number_text(k.kind, k.high));
  if (k.kind == value_kind::mode && (number & 0200) == 0)
    return fmt::format("{} leaves the owner no right to write, so that the file could not be opened again; try {}",
                       number_text(k.kind, number), number_text(k.kind, number | 0600));
  return {};
}

bool is_bare(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

parsed<value> read_value(const key& k, const node& from) {
  if (from.kind != wanted_node(k.kind))
    return {{}, fmt::format("{} where {} belongs; write {} = {}", name_of_kind(from), wanted(k.kind), k.name, example_for(k, from))};
  switch (k.kind) {
    case value_kind::boolean:
      return {value{from.boolean}, {}};
    case value_kind::integer:
      return {value{from.integer}, {}};
    case value_kind::size: {
      parsed<value> size = widened(parse_size(from.string));
      if (size.problem.ends_with("too large a number")) size.problem += fmt::format("; the most is {}", number_text(k.kind, k.high));
      return size;
    }
    case value_kind::duration: {
      parsed<value> duration = widened(parse_duration(from.string));
      if (duration.problem.ends_with("too large a number"))
        duration.problem += fmt::format("; the most is {}", number_text(k.kind, k.high));
      return duration;
    }
    case value_kind::choice:
      return read_choice(k, from.string);
    case value_kind::sync:
      return read_sync(from.string);
    case value_kind::mode:
      return read_mode(from.string);
    case value_kind::names:
      return read_names(from);
    case value_kind::text:
    case value_kind::path:
      return {value{from.string}, {}};
  }
  return {};
}

std::string range_problem(const key& k, const value& v) {
  if (const auto* number = std::get_if<std::int64_t>(&v)) {
    if (k.kind != value_kind::choice) return bounds_problem(k, *number);
    const bool known = *number >= 0 && *number < static_cast<std::int64_t>(k.choices.size());
    return known ? std::string{} : fmt::format("{} is not one of its enumerators; use one of {}", *number, choices_text(k));
  }
  if (const auto* duration = std::get_if<std::chrono::nanoseconds>(&v)) return bounds_problem(k, duration->count());
  if (const auto* sync = std::get_if<sync_policy>(&v)) {
    const bool none = !sync->each_batch && sync->interval.count() == 0;
    return none || sync->each_batch ? std::string{} : bounds_problem(k, sync->interval.count());
  }
  if (const auto* text = std::get_if<std::string>(&v)) {
    if (text->find('\0') != std::string::npos && k.kind == value_kind::path)
      return "the path holds a zero byte, which no file name can; remove it";
  }
  return {};
}

std::string value_text(const key& k, const value& v) {
  if (const auto* boolean = std::get_if<bool>(&v)) return *boolean ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&v)) return in_quotes(*text);
  if (const auto* duration = std::get_if<std::chrono::nanoseconds>(&v)) return number_text(value_kind::duration, duration->count());
  if (const auto* number = std::get_if<std::int64_t>(&v))
    return k.kind == value_kind::choice ? in_quotes(k.choices[static_cast<std::size_t>(*number)]) : number_text(k.kind, *number);
  if (const auto* sync = std::get_if<sync_policy>(&v)) {
    if (sync->each_batch) return "\"batch\"";
    return sync->interval.count() == 0 ? "\"none\"" : number_text(value_kind::duration, sync->interval.count());
  }
  if (const auto* names = std::get_if<std::vector<std::string>>(&v)) {
    std::vector<std::string> texts;
    std::transform(names->begin(), names->end(), std::back_inserter(texts), [](const std::string& name) { return in_quotes(name); });
    return fmt::format("[{}]", fmt::join(texts, ", "));
  }
  return {};
}

std::string range_text(const key& k) {
  if (!k.choices.empty()) return choices_text(k);
  if (k.kind == value_kind::boolean) return "true | false";
  const std::string range = fmt::format("{} to {}", number_text(k.kind, k.low), number_text(k.kind, k.high));
  if (k.kind == value_kind::sync) return "\"none\" | \"batch\" | " + range;
  const bool bounded =
      k.kind == value_kind::integer || k.kind == value_kind::size || k.kind == value_kind::duration || k.kind == value_kind::mode;
  return bounded ? range : std::string{};
}

std::string key_text(std::string_view name) { return is_bare(name) ? std::string{name} : in_quotes(name); }

}  // namespace penstock::detail
