// SPDX-License-Identifier: MIT
// What `penstock bench sinks --limits` does once its options are read.
#pragma once

#include <filesystem>
#include <string>

#include "bench/suites/limits.hpp"

namespace penstock::cli {

struct limits_call {
  bench::limit_options chosen{};
  std::string rows{};  ///< as given: "1-5,7"; empty: all
  std::filesystem::path csv{};
  std::filesystem::path json{};
};

/// Gives the exit status: a target that is not met is a result, not a failure.
int run_limits(limits_call call);

}  // namespace penstock::cli
