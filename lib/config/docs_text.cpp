// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "lib/config/texts.hpp"
#include "lib/config/values.hpp"

namespace penstock::detail {
namespace {

constexpr std::string_view introduction = R"(<!-- Made by `penstock config --docs` from the table of keys; a test compares the two. -->
# The config file

A config file is TOML. `start("app.toml")` reads it, and so does a program that logs before `start()` if `PENSTOCK_CONFIG` names it.

- `penstock config --check F` tells all that is wrong with a file, `--defaults` prints every key with its default, and `--explain F`
  prints what a file comes to, with defaults and inheritance written out.
- Sizes are strings: a whole number and `B`, `KiB`, `MiB`, `GiB` or `TiB`. Durations are strings: a whole number and `ns`, `us`, `ms`,
  `s`, `min`, `h` or `d`.
- What is unknown, of the wrong type, out of range or contradictory is refused with file, line and column, and nothing starts.
- A program may fill in `penstock::config` itself; its members have the names and the defaults of the keys, and `validate()` applies the
  same rules.
)";

constexpr std::string_view example = R"(
## An example

```toml
[backend]
overflow = "drop"

[sinks.app]
type = "io_uring"
path = "logs/app.log"

[sinks.audit]
type = "write"
path = "logs/audit.log"
sync = "batch"

[loggers.root]
level = "info"
sinks = ["app"]

[loggers.audit]
sinks = ["audit"]
```
)";

constexpr std::string_view about_sinks = R"(
Each sink is a table of its own, `[sinks.NAME]`. A key that belongs to other types is refused. A type that the program registers has all
keys but those that belong to one built-in type alone. Two sinks cannot write one file, by whatever names it is reached.

`batch_size` defaults to 256 KiB; to 64 KiB for mmap_ring, to 1 MiB where `page_cache` is `"drop"` or `"direct"`, and to one page for
the console.
)";

constexpr std::string_view about_patterns = R"(
### Patterns

A pattern is text with fields in braces; `{{` and `}}` are braces. Each field may have an alignment and a width as in fmt: `{level:<8}`,
`{line:>5}`, `{logger:.^20}`. The width is at most 999. A time format may use `%f` for microseconds and `%N` for
nanoseconds; alignment stands before it, as in `{time:>30%F %T}`.

| field | text |
| --- | --- |
| `{time}` | ISO 8601 local time with microseconds and offset; a strftime format may follow, as in `{time:%H:%M:%S.%f}` |
| `{level}` | `trace` to `critical` |
| `{thread}` | the thread |
| `{process}` | the process id |
| `{logger}` | the logger's name |
| `{file}`, `{line}`, `{function}` | where the statement stands; the file without its folders |
| `{message}` | the message |
)";

constexpr std::string_view about_rotate = R"(
`rotate` is a table within a sink: `rotate = { size = "1 GiB", keep = 10 }`, or dotted keys such as `rotate.size`. Files are rotated
once `size` or `every` is set; [rotation.md](rotation.md) tells what becomes of them.
)";

constexpr std::string_view about_loggers = R"(
Each logger is a table, `[loggers.NAME]`. Names form a dotted tree, so that `[loggers.net.http]` and `[loggers."net.http"]` are one
logger; both in one file is an error. A logger without `level` or `sinks` takes its parent's (`net.http`, `net`, `root`); one with its
own `sinks` writes to those alone. Without `[loggers.root]` the root writes level info to every sink, and without any sink to the
console.
)";

/// A text for a cell of a table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string code(std::string_view text) { return text.empty() ? std::string{} : fmt::format("`{}`", cell(text)); }

std::string default_text(const key& k) {
  if (k.name == "batch_size") return "see above";
  const bool required = k.in == section::sink && (k.name == "type" || k.name == "path");
  return required ? "required" : code(value_text(k, default_of(k)));
}

std::string sinks_of(const key& k) {
  if (k.types == types_all) return "all";
  return k.types == types_file ? "all with a file" : k.types == types_path ? "all with a file, console" : types_text(k.types);
}

void add_table(std::string& out, section in) {
  const bool with_types = in == section::sink || in == section::rotate;
  out += with_types ? "\n| key | default | values | sinks | meaning |\n| --- | --- | --- | --- | --- |\n"
                    : "\n| key | default | values | meaning |\n| --- | --- | --- | --- |\n";
  for (const key& k : key_table()) {
    if (k.in != in) continue;
    out += fmt::format("| `{}` | {} | {} | ", k.name, default_text(k), code(range_text(k)));
    if (with_types) out += sinks_of(k) + " | ";
    out += fmt::format("{}{} |\n", cell(k.doc), k.built ? "" : " (not built yet: only the default is accepted)");
  }
}

}  // namespace

std::string docs_text() {
  std::string out{introduction};
  out += example;
  out += "\n## `[backend]`\n";
  add_table(out, section::backend);
  out += "\n## `[sinks.NAME]`\n";
  out += about_sinks;
  add_table(out, section::sink);
  out += about_patterns;
  out += "\n### `rotate`\n";
  out += about_rotate;
  add_table(out, section::rotate);
  out += "\n## `[loggers.NAME]`\n";
  out += about_loggers;
  add_table(out, section::logger);
  return out;
}

}  // namespace penstock::detail
