// SPDX-License-Identifier: MIT
// A running library for one test: start with one sink, stop, read what was written.
#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include <penstock/penstock.hpp>

#include "tests/support/controlled_sink.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::testing {

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The ledgers of a moment in which nothing moves.
inline void expect_sums(const stats_snapshot& now) {
  EXPECT_EQ(now.front.queued, 0U);
  for (std::size_t i = 0; i < level_count; ++i) {
    std::uint64_t dropped = 0;
    for (const level_counts& reason : now.front.dropped) dropped += reason.at[i];
    EXPECT_EQ(now.front.accepted.at[i], now.front.taken.at[i] + dropped) << "level " << i;
    for (const sink_stats& sink : now.sinks)
      EXPECT_EQ(sink.taken.at[i], sink.written.at[i] + sink.lost.at[i] + sink.held.at[i]) << sink.name << ", level " << i;
  }
}

/// The front ledger counts from the beginning of the process: what a test added to it.
inline front_stats minus(front_stats now, const front_stats& before) {
  const auto subtract = [](level_counts& from, const level_counts& what) {
    for (std::size_t i = 0; i < level_count; ++i) from.at[i] -= what.at[i];
  };
  subtract(now.accepted, before.accepted);
  subtract(now.taken, before.taken);
  for (std::size_t i = 0; i < drop_reason_count; ++i) subtract(now.dropped[i], before.dropped[i]);
  now.late -= before.late;
  now.cut_short -= before.cut_short;
  return now;
}

struct Running : ::testing::Test {
  ~Running() override {
    if (control) control->let_go();
    stop();
  }

  /// A sink with pattern {message}; an empty path for a sink without a file.
  static sink_config sink_on(const std::filesystem::path& file, const std::string& type = "write") {
    sink_config made;
    made.type = type;
    made.path = file;
    made.pattern = "{message}";
    return made;
  }
  /// One sink of `type` on `log`, pattern {message}, every level.
  config settings(const std::string& type = "write") {
    config made;
    made.sinks.emplace("app", sink_on(type != "null" && type != "controlled" ? log() : "", type));
    logger_config root;
    root.level = level::trace;
    made.loggers.emplace("root", root);
    return made;
  }
  config controlled() {
    control = register_controlled_sink();
    return settings("controlled");
  }

  std::filesystem::path log() const { return folder / "log"; }
  std::string text() const { return text_of(log()); }
  /// Own lines of the library left out.
  static std::vector<std::string> records_of(const std::string& text) {
    std::vector<std::string> lines = lines_of(text);
    std::erase_if(lines, [](const std::string& line) { return line.rfind("penstock: ", 0) == 0; });
    return lines;
  }

  front_stats front() const { return minus(stats().front, before_); }
  /// For a forked child, whose library counts from nothing.
  void count_anew() { before_ = stats().front; }

  temp_folder folder;
  std::shared_ptr<sink_control> control;

 private:
  front_stats before_ = stats().front;
};

}  // namespace penstock::testing
