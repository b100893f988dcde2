// SPDX-License-Identifier: MIT
// The one place where a record's arguments become text, on whichever thread, and where what a formatter throws ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
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

/// The most that a record may have: 16 MiB, or a quarter of a smaller budget, so that one record does not hold everybody up.
constexpr std::size_t record_bytes_max(std::size_t memory_bytes) noexcept {
  return memory_bytes / 4 < (std::size_t{16} << 20) ? memory_bytes / 4 : std::size_t{16} << 20;
}

/// Of the text of a record, beside its header, padding and, for sites with site_source_in_record, its source facts.
constexpr std::size_t text_bytes_max(std::size_t record_bytes_max, bool source_in_record) noexcept {
  return record_bytes_max - sizeof(detail::record_header) - 8 - (source_in_record ? sizeof(source_facts) : 0);
}

/// Ends a text of more than `most_bytes` between two characters, with a marker behind.
void cut_short(detail::text_out& out, std::size_t most_bytes) noexcept;

/// Counts the records whose text the backend cut, each once, however many outputs lay it out.
///
/// Thread: add() by the owner of the backend, count() by any.
class cut_counter {
 public:
  void add(std::uint64_t record_number) noexcept {
    if (record_number == last_number_) return;
    last_number_ = record_number;
    count_.store(count() + 1, std::memory_order_relaxed);
  }
  std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t last_number_ = 0;
  std::atomic<std::uint64_t> count_{0};
};

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
