// SPDX-License-Identifier: MIT
// With what the tool ends.
#pragma once

namespace penstock::cli {

inline constexpr int done = 0;
inline constexpr int work_failed = 1;
inline constexpr int wrong_call = 2;  ///< or a wrong config: nothing was begun

}  // namespace penstock::cli
