// SPDX-License-Identifier: MIT
// The loggers that are compared, as programs to run. Penstock is the tool itself, called once more.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/latency/one_run.hpp"

namespace penstock::bench {

struct contender {
  std::string id{};  ///< what --logger names: "penstock", "spdlog"
  std::string name{};
  std::string settings{};
  std::vector<std::string> program{};  ///< file and first words; the workload's follow
};

/// Penstock in each of `modes` ("auto", "caller", "backend"), then the programs penstock-bench-* beside this one or in ../libexec/penstock.
/// They are asked for their names in `folder`, where some of them leave files.
std::vector<contender> find_contenders(const std::vector<std::string>& modes, const std::filesystem::path& folder);

/// What a run gave, or why it gave nothing.
struct child_result {
  run_figures figures{};
  std::string problem{};
};

/// Runs one workload in a new process in the file's folder and waits for it, `time_limit_seconds` at most. The file is removed before.
child_result run_child(const contender& who, const workload& of, const std::filesystem::path& file, int time_limit_seconds);

/// The hidden call of the tool: Penstock itself, in one format mode.
int run_penstock(const std::string& mode, const std::vector<std::string>& words);

}  // namespace penstock::bench
