// SPDX-License-Identifier: MIT
// What `penstock config` prints. All of it follows the table of keys.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <penstock/config.hpp>

namespace penstock::detail {

/// Every key with its default, range and meaning: [backend], one sink of each type, the loggers. Itself a valid config.
std::string defaults_text();

/// The configuration as it takes effect, defaults and inheritance written out: a valid config that means the same. `settings` must be
/// valid.
std::string explain_text(const config& settings);

/// docs/config.md.
std::string docs_text();

/// All faults of a config file, in its order, as load_config() would tell the first of them; empty: there are none.
std::vector<std::string> faults_of(const std::filesystem::path& file);

}  // namespace penstock::detail
