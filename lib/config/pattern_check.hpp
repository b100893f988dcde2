// SPDX-License-Identifier: MIT
// Checks a sink's pattern without compiling it, so that a bad one is refused with the config file. The backend's compiler accepts exactly
// what passes here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::detail {

/// What is wrong with a pattern.
struct pattern_problem {
  std::size_t offset_bytes = 0;  ///< where in the pattern
  std::string text{};            ///< what is wrong, and the remedy
};

/// Checks a pattern.
///
/// Grammar: text, "{{" and "}}" for braces, and fields `{name}` or `{name:spec}`, name one of time, level, thread, process, logger, file,
/// line, function, message. `spec` is `[[fill]align][width]` with align one of "<", ">", "^", fill one character that is not a brace, and
/// width 1 to 999; {time} takes a strftime format behind it, which begins with "%" and may use %f (microseconds) and %N (nanoseconds).
std::optional<pattern_problem> check_pattern(std::string_view pattern);

}  // namespace penstock::detail
