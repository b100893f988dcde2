// SPDX-License-Identifier: MIT
// What the table of keys says about a single value: how it is read, spelt, bounded and explained.
#pragma once

#include <string>

#include "lib/config/document.hpp"
#include "lib/config/key_table.hpp"
#include "lib/config/units.hpp"

namespace penstock::detail {

/// Reads the value that stands in the file; its type and its spelling are checked, its range is not.
parsed<value> read_value(const key& k, const node& from);

/// What is wrong with a value by its key's range, with the nearest valid value; empty: nothing.
std::string range_problem(const key& k, const value& v);

/// The value as TOML; empty where nothing is set.
std::string value_text(const key& k, const value& v);

/// What may be written: `"block" | "drop"`, `"1 MiB" to "64 GiB"`; empty where any text may.
std::string range_text(const key& k);

/// A TOML key: as it is if TOML allows that, else in quotes.
std::string key_text(std::string_view name);

}  // namespace penstock::detail
