// SPDX-License-Identifier: MIT
// The one place where a record's arguments become text, on whichever thread, and where what a formatter throws ends.
#pragma once

#include <cstddef>
#include <string_view>

#include <penstock/detail/record.hpp>

#include "lib/transport/text_spill.hpp"

namespace penstock::backend {

using transport::spilling_text;
using transport::text_spill;

/// Lays out the text of encoded arguments at `out`. If a formatter throws, the text becomes one that says so: format, error, place.
void lay_out_record(const detail::call_site& site, const source_facts& source, const std::byte* arguments, detail::text_out& out) noexcept;

/// The same for a statement that formats by itself.
void lay_out_by(void (*format)(const void* context, detail::text_out& out), const void* context, const source_facts& source,
                detail::text_out& out) noexcept;

/// What a record consists of, whichever way it was logged.
struct record_view {
  const source_facts* source;
  const std::byte* payload;  ///< text, or encoded arguments
  std::size_t payload_bytes;

  explicit record_view(const detail::record_header& record) noexcept
      : source(&record.site->source), payload(reinterpret_cast<const std::byte*>(&record + 1)), payload_bytes(record.payload_bytes()) {
    if ((record.site->flags & detail::site_source_in_record) == 0) return;
    source = reinterpret_cast<const source_facts*>(payload);
    payload += sizeof(source_facts);
    payload_bytes -= sizeof(source_facts);
  }
  record_view(const source_facts& of, std::string_view text) noexcept
      : source(&of), payload(reinterpret_cast<const std::byte*>(text.data())), payload_bytes(text.size()) {}

  /// Of a text record.
  std::string_view text() const noexcept { return {reinterpret_cast<const char*>(payload), payload_bytes}; }
};

}  // namespace penstock::backend
