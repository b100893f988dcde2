// SPDX-License-Identifier: MIT
// One run in a process of its own, so that its peak memory and its processor time are nobody else's. Every logger is a program (or, for
// Penstock, a hidden call of the tool) that takes one workload and writes what came of it to descriptor 3, a name and a number a line.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/latency/line_check.hpp"
#include "bench/latency/loops.hpp"
#include "bench/latency/measure.hpp"
#include "bench/latency/workload.hpp"

namespace penstock::bench {

inline constexpr int result_descriptor = 3;

/// A run as numbers by name; the names are those of the JSON output.
using run_figures = std::map<std::string, double, std::less<>>;

run_figures figures_of_run(const workload& of, const raw_run& run, const line_counts& lines);

/// The words of a call, and the call of some words.
///
/// Errors: std::invalid_argument.
std::vector<std::string> words_of(const workload& of, const std::filesystem::path& file);
workload workload_from(std::span<const std::string> words, std::filesystem::path& file);

std::string text_of(const run_figures& figures);
run_figures figures_from(std::string_view text);

/// Writes to descriptor 3.
void hand_over(std::string_view text);

/// Runs, checks the lines, hands the figures over. Gives the exit status.
template <class Peer>
int run_one(Peer& peer, std::span<const std::string> words) {
  std::filesystem::path file;
  const workload work = workload_from(words, file);
  const raw_run run = run_workload(peer, work, file);
  hand_over(text_of(figures_of_run(work, run, check_lines(work, file))));
  return 0;
}

/// What a logger says of itself.
struct peer_facts {
  std::string name{};  ///< "spdlog 1.10.0"
  std::string settings{};
};

/// main() of a program that is one logger.
template <class Peer>
int peer_main(int argc, char** argv, const peer_facts& facts) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 1 && words[0] == "--describe") {
      hand_over(facts.name + "\n" + facts.settings + "\n");
      return 0;
    }
    Peer peer;
    return run_one(peer, words);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "penstock: %s\n", error.what());
    return 1;
  }
}

}  // namespace penstock::bench
