// SPDX-License-Identifier: MIT
#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <set>

namespace tidy {
namespace {

bool is_cpp(std::string_view path) { return path.ends_with(".hpp") || path.ends_with(".cpp"); }

/// Calls `visit(line, number)` for each line, without its newline, from 1 on.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  std::size_t number = 1;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    visit(text.substr(0, end), number++);
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string at(std::string_view path, std::size_t line) { return std::string(path) + ":" + std::to_string(line) + ": "; }

/// Columns as a reader sees them: bytes that go on with a UTF-8 character do not count.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

struct edge {
  std::string_view from;
  std::initializer_list<std::string_view> to;
};

// The drawing under "Folders" in docs/architecture.md. The longest matching `from` counts; a folder may always include itself.
// `to` is a path prefix: a folder, or a single file.
const edge edges[] = {
    {"include/penstock/base/", {}},
    {"include/penstock/detail/", {"include/penstock/base/"}},
    {"include/penstock/", {"include/penstock/detail/", "include/penstock/base/"}},
    {"lib/os/", {"include/penstock/"}},
    {"lib/transport/", {"lib/os/", "include/penstock/"}},
    {"lib/backend/", {"lib/transport/", "lib/os/", "include/penstock/"}},
    {"lib/engine/", {"lib/backend/", "lib/transport/", "lib/os/", "sinks/factory.hpp", "include/penstock/"}},
    {"lib/config/", {"include/penstock/", "sinks/factory.hpp"}},  // which sink types there are
    {"sinks/", {"lib/os/", "include/penstock/"}},
    {"bench/",
     {"include/penstock/", "lib/os/", "lib/config/texts.hpp", "lib/config/units.hpp", "sinks/factory.hpp", "sinks/ring_",
      "sinks/uring.hpp"}},                                                // the last for a raw loop
    {"bench/micro/", {"bench/", "lib/", "sinks/", "include/penstock/"}},  // parts of the hot path, each on its own
    {"tests/", {"lib/", "sinks/", "bench/", "include/penstock/"}},
    {"examples/", {"include/penstock/"}},
};

const edge* edge_of(std::string_view path) {
  const edge* best = nullptr;
  for (const edge& candidate : edges) {
    if (path.starts_with(candidate.from) && (best == nullptr || candidate.from.size() > best->from.size())) best = &candidate;
  }
  return best;
}

/// Depth-first search for the way back to a file that is still open on the way.
class cycle_search {
 public:
  cycle_search(const tree& files, findings& out) : files_(files), out_(out) {}

  void visit(const std::string& path) {
    if (done_.contains(path)) return;
    const auto open = std::find(way_.begin(), way_.end(), path);
    if (open != way_.end()) {
      std::string text = path + ":1: includes itself through";
      for (auto step = std::next(open); step != way_.end(); ++step) text += " " + *step;
      out_.push_back(text + "; move what both need to a third file");
      return;
    }
    const auto file = files_.find(path);
    if (file == files_.end()) return;
    way_.push_back(path);
    for (const inclusion& next : inclusions_of(path, file->second)) visit(next.target);
    way_.pop_back();
    done_.insert(path);
  }

 private:
  const tree& files_;
  findings& out_;
  std::vector<std::string> way_{};
  std::set<std::string> done_{};
};

}  // namespace

limits limits_of(std::string_view path) {
  return {.file_lines_max = path.starts_with("tests/") ? std::size_t{500} : std::size_t{400}, .line_columns_max = 140};
}

bool is_source(std::string_view path) {
  return is_cpp(path) || path.ends_with(".cmake") || path.ends_with(".cmake.in") || path.ends_with("CMakeLists.txt") ||
         path.ends_with(".sh") || path.ends_with(".py") || path == "dev" || path == ".ci/run";
}

void check_licence_line(std::string_view path, std::string_view text, findings& out) {
  if (!is_source(path)) return;
  const std::string_view mark = path.ends_with(".hpp") || path.ends_with(".cpp") ? "// " : "# ";
  const std::string wanted = std::string(mark) + "SPDX-License-Identifier: MIT";
  std::string_view first = text.substr(0, text.find('\n'));
  std::size_t line = 1;
  if (first.starts_with("#!")) {
    text.remove_prefix(std::min(text.size(), first.size() + 1));
    first = text.substr(0, text.find('\n'));
    line = 2;
  }
  if (first != wanted) out.push_back(at(path, line) + "the first line is not the licence; write `" + wanted + "`");
}

void check_size(std::string_view path, std::string_view text, findings& out) {
  if (!is_source(path)) return;
  const limits max = limits_of(path);
  std::size_t lines = 0;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    lines = number;
    if (columns(line) > max.line_columns_max) {
      out.push_back(at(path, number) + std::to_string(columns(line)) + " columns; " + std::to_string(max.line_columns_max) +
                    " are allowed");
    }
    if (line.ends_with(' ') || line.ends_with('\t') || line.ends_with('\r'))
      out.push_back(at(path, number) + "blanks at the end; remove them");
  });
  if (lines > max.file_lines_max) {
    out.push_back(at(path, lines) + std::to_string(lines) + " lines; " + std::to_string(max.file_lines_max) +
                  " are allowed: divide the file");
  }
  if (!text.empty() && !text.ends_with('\n')) out.push_back(at(path, lines) + "no newline at the end; add one");
}

void check_no_machine_paths(std::string_view path, std::string_view text, findings& out) {
  // Written in two parts, so that this file passes its own rule.
  static const std::string homes[] = {std::string("/ho") + "me/", std::string("/ro") + "ot/", std::string("/wo") + "rk/"};
  static const std::string beside = std::string("../sha") + "red";
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    for (const std::string& home : homes) {
      if (line.find(home) != std::string_view::npos) {
        out.push_back(at(path, number) + "names a folder of one machine (" + home + "); use a relative path");
      }
    }
    if (path != ".ci/run" && line.find(beside) != std::string_view::npos) {
      out.push_back(at(path, number) + "names " + beside + ", which only .ci/run may");
    }
  });
}

void check_banned_words(std::string_view path, std::string_view text, findings& out) {
  struct ban {
    std::string word;
    std::string_view remedy;
    std::string_view folder = "";  // where it holds
  };
  static const std::array<ban, 3> bans{{
      {std::string("std::en") + "dl", "write '\\n': it flushes"},
      {std::string("using name") + "space std;", "name what you use"},
      {std::string("sleep_") + "for(", "wait for what you wait for, with a deadline", "tests/"},
  }};
  if (!is_cpp(path)) return;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    for (const ban& one : bans) {
      const bool holds = path.starts_with(one.folder) && line.find(";  // ") == std::string_view::npos;
      if (holds && line.find(one.word) != std::string_view::npos) {
        out.push_back(at(path, number) + "`" + one.word + "`: " + std::string(one.remedy) + ", or say why in a comment on this line");
      }
    }
  });
}

void check_macro_names(std::string_view path, std::string_view text, findings& out) {
  if (!path.starts_with("include/")) return;
  bool asked_for = false;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    constexpr std::string_view word = "#define ";
    if (line.starts_with("#if") || line.starts_with("#endif")) asked_for = line.starts_with("#ifdef PENSTOCK_");
    if (line.starts_with(word) && !line.substr(word.size()).starts_with("PENSTOCK_") && !asked_for) {
      out.push_back(at(path, number) +
                    "a macro of a public header starts with PENSTOCK_, or stands in an `#ifdef PENSTOCK_...` of its own");
    }
  });
}

std::vector<inclusion> inclusions_of(std::string_view path, std::string_view text) {
  std::vector<inclusion> result;
  if (!is_cpp(path)) return result;
  for_each_line(text, [&](std::string_view line, std::size_t number) {
    constexpr std::string_view word = "#include ";
    if (!line.starts_with(word)) return;
    line.remove_prefix(word.size());
    const std::size_t end = line.find_first_of("\">", 1);
    if (end == std::string_view::npos) return;
    const bool quoted = line.front() == '"';
    std::string name(line.substr(1, end - 1));
    if (name.starts_with("penstock/")) {
      result.push_back({"include/" + name, number});
    } else if (quoted) {
      // From the top of the tree; a test may also name its own support files from tests/, or a neighbour by its name alone.
      const std::string folder(path.substr(0, path.rfind('/') + 1));
      const bool from_top = edge_of(name) != nullptr;
      result.push_back({from_top ? name : name.starts_with("support/") ? "tests/" + name : folder + name, number});
    }
  });
  return result;
}

bool may_include(std::string_view from, std::string_view to) {
  const edge* rule = edge_of(from);
  if (rule == nullptr) return false;
  if (edge_of(to) == rule) return true;
  return std::any_of(rule->to.begin(), rule->to.end(), [to](std::string_view prefix) { return to.starts_with(prefix); });
}

void check_edges(const tree& files, findings& out) {
  for (const auto& [path, text] : files) {
    for (const inclusion& one : inclusions_of(path, text)) {
      if (!may_include(path, one.target)) {
        out.push_back(at(path, one.line) + "includes " + one.target +
                      ", an edge that the table of folders does not have (tests/tidy/rules.cpp)");
      }
    }
  }
}

void check_cycles(const tree& files, findings& out) {
  cycle_search search(files, out);
  for (const auto& [path, text] : files) search.visit(path);
}

void check_links(const tree& files, findings& out) {
  const auto is_there = [&files](const std::string& target) {
    const auto next = files.lower_bound(target);
    return next != files.end() && (next->first == target || next->first.starts_with(target.ends_with('/') ? target : target + "/"));
  };
  for (const auto& [path, text] : files) {
    if (!path.ends_with(".md")) continue;
    for_each_line(text, [&, page = std::string_view(path)](std::string_view line, std::size_t number) {
      for (std::size_t begin = line.find("]("); begin != std::string_view::npos; begin = line.find("](", begin)) {
        begin += 2;
        const std::string_view link = line.substr(begin, line.find_first_of(")#", begin) - begin);
        if (link.empty() || link.find("://") != std::string_view::npos || link.starts_with("mailto:")) continue;
        const std::filesystem::path folder = std::filesystem::path(page).parent_path();
        if (!is_there((folder / link).lexically_normal().generic_string())) {
          out.push_back(at(page, number) + "links to " + std::string(link) + ", which is not there");
        }
      }
    });
  }
}

findings check(const tree& files) {
  findings out;
  for (const auto& [path, text] : files) {
    check_licence_line(path, text, out);
    check_size(path, text, out);
    check_no_machine_paths(path, text, out);
    check_banned_words(path, text, out);
    check_macro_names(path, text, out);
  }
  check_edges(files, out);
  check_cycles(files, out);
  check_links(files, out);
  return out;
}

}  // namespace tidy
