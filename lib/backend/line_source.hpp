// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string_view>

#include <penstock/base/level.hpp>

#include "lib/backend/message.hpp"
#include "lib/backend/time_map.hpp"

namespace penstock::backend {

/// A record on its way into a line: what the line says, and what tells it from the lines of other statements.
struct line_source {
  const detail::call_site* site = nullptr;
  record_view body;
  wall_ns time = 0;
  std::uint64_t number = 0;  ///< of the record: outputs of one layout share its line; 0: nobody shares it
  std::uint64_t stream = 0;  ///< index and generation of the thread stream
  std::string_view logger{};
  std::uint32_t logger_index = 0;
  int thread_id = 0;
  bool is_text = true;
  bool is_printable = false;  ///< of a text: it needs no escapes

  level record_level() const noexcept { return site->level; }
};

}  // namespace penstock::backend
