// SPDX-License-Identifier: MIT
// The rules that hold for a configuration as a whole, wherever it came from.
#pragma once

#include <penstock/config.hpp>

#include "lib/config/report.hpp"

namespace penstock::detail {

/// Adds to `faults` whatever start() would refuse. What the report holds as faulty already is taken as unknown and not judged again.
void check_config(const config& settings, report& faults);

/// The part of check_config() that compares files: two sinks on one file, a folder in place of a file.
void check_files(const config& settings, report& faults);

/// The page size of this machine in bytes.
std::size_t page_bytes() noexcept;

/// The name of the logger above: "a.b" → "a" → "root". Only for names other than "root".
std::string_view parent_of(std::string_view logger) noexcept;

}  // namespace penstock::detail
