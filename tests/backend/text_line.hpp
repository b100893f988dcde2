// SPDX-License-Identifier: MIT
// A finished text as the line of a thread and the root logger.
#pragma once

#include <cstdint>
#include <string_view>

#include "lib/backend/line_source.hpp"

namespace penstock::testing {

/// Owner: `site` and `text` outlive the line.
inline backend::line_source text_line(const detail::call_site& site, std::string_view text, backend::wall_ns time = 0) {
  return {.site = &site, .body = backend::record_view(site.source, text), .time = time, .stream = 1, .logger = "root", .thread_id = 1};
}

}  // namespace penstock::testing
