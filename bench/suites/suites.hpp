// SPDX-License-Identifier: MIT
// The five published comparisons. Each function makes the table of one post; nothing runs yet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/suites/suite.hpp"

namespace penstock::bench {

suite japm_suite(const options& chosen);
suite copy_suite(const options& chosen);
suite buffer_suite(const options& chosen);
suite mapped_suite(const options& chosen);
suite sequential_suite(const options& chosen);

/// A column of the japm table, for records of any length.
column japm_column(std::size_t record_bytes, const options& chosen);

struct suite_entry {
  std::string_view name;
  std::string_view about;
  suite (*make)(const options&);
};

/// In the order of the posts.
const std::vector<suite_entry>& suite_entries();

}  // namespace penstock::bench
