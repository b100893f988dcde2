// SPDX-License-Identifier: MIT
// TOML text to a config, guided by the table of keys.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <penstock/config.hpp>

#include "lib/config/report.hpp"

namespace penstock::detail {

/// Reads the text and checks all of it; what is wrong goes to `faults`.
///
/// Errors: config_error where the text is no TOML at all.
config read_config(std::string_view text, std::string_view source_name, report& faults);

/// The text of a file.
///
/// Errors: config_error if it cannot be read, is a folder, or is longer than document_bytes_max.
std::string read_text(const std::filesystem::path& file);

}  // namespace penstock::detail
