// SPDX-License-Identifier: MIT
// Collects what is wrong with a configuration, so that the user hears of the first fault in the file, not of the first one that the checks
// came upon, and `penstock config --check` can tell them all.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/config/document.hpp"

namespace penstock::detail {

/// Where each key of a file stands, by its path, such as "sinks.app.batch_size".
using places = std::map<std::string, position, std::less<>>;

class report {
 public:
  /// For a configuration that was filled in by hand: there are no places.
  report() = default;
  /// For a file; `source_name` stands in front of each message.
  explicit report(std::string_view source_name) : source_name_(source_name) {}

  /// Notes where a key or a table stands.
  void place(std::string path, position at) { places_.insert_or_assign(std::move(path), at); }
  /// Whether the file mentions the key.
  bool mentions(std::string_view path) const { return places_.find(path) != places_.end(); }
  /// Where the key, or else the nearest table around it, stands.
  position place_of(std::string_view path) const;

  /// Notes a fault of the key; `text` says what is wrong, and the remedy. Only the first fault of a key counts.
  void add(std::string_view path, std::string_view text);
  /// As add(), at a place of its own.
  void add_at(position at, std::string_view path, std::string_view text);
  /// Whether the key has a fault, so that what follows from its value is not worth a check.
  bool faulty(std::string_view path) const { return faulty_.find(path) != faulty_.end(); }

  /// All faults as messages, "file:line:column: key: what, and the remedy", in the order of the file.
  std::vector<std::string> messages() const;
  /// Errors: config_error with the first message, if there is any.
  void throw_if_faulty() const;

 private:
  struct fault {
    position at;
    std::string path;
    std::string text;
  };

  std::string source_name_;
  places places_;
  std::vector<fault> faults_;
  std::set<std::string, std::less<>> faulty_;  // their paths
};

/// "base.name", the name in quotes where TOML needs them.
std::string path_to(std::string_view base, std::string_view name);

}  // namespace penstock::detail
