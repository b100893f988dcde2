// SPDX-License-Identifier: MIT
// The asynchronous logger as a row: `return` is the time until the last call returned, `close` until all is on file and the logger stopped.
#pragma once

#include <memory>

#include "bench/suites/content.hpp"
#include "bench/suites/suite.hpp"

namespace penstock::bench {

/// Rows that log the records of a column. None under `in-place`: the logger appends.
void add_logger_rows(column& size, const options& chosen, const std::shared_ptr<const records>& lines);

}  // namespace penstock::bench
