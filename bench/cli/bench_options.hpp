// SPDX-License-Identifier: MIT
// The options that all of `penstock bench` shares.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "bench/suites/options.hpp"

namespace penstock::cli {

/// Adds --dir, --repeat, --file, --sync, --cache, --smoke. `chosen` must outlive the parser.
void add_run_options(CLI::App& command, bench::options& chosen);

/// Adds --bytes, of at least 1 MiB: a pass of less measures its own beginning. `chosen` must outlive the parser.
void add_pass_bytes(CLI::App& command, std::uint64_t& chosen, const std::string& default_size);

/// An option that names a file for results. One that cannot be written is refused with the call, before anything is measured. `chosen` must
/// outlive the parser.
CLI::Option* add_result_file(CLI::App& command, const std::string& name, std::filesystem::path& chosen, const std::string& description);

/// The same for a picture, beside which a script of gnuplot stands for a moment.
CLI::Option* add_picture_file(CLI::App& command, std::filesystem::path& chosen);

/// An option that takes one of a few words; a wrong one is answered with the list of the right ones.
template <class Value>
CLI::Option* add_choice(CLI::App& command, const std::string& name, Value& chosen, const std::vector<std::pair<std::string, Value>>& values,
                        const std::string& description) {
  std::vector<std::string> words;
  std::string list;
  for (const auto& [word, value] : values) {
    words.push_back(word);
    list += (list.empty() ? "" : "|") + word;
  }
  return command
      .add_option_function<std::string>(
          name,
          [&chosen, values](const std::string& given) {
            for (const auto& [word, value] : values)
              if (word == given) chosen = value;
          },
          description)
      ->check(CLI::IsMember(words))
      ->option_text(list);
}

}  // namespace penstock::cli
