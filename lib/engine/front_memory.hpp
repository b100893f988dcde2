// SPDX-License-Identifier: MIT
// Where a thread's next record finds its place: chunks, and what happens when the memory for them is used up.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/base/level.hpp>

#include "lib/transport/thread_stream.hpp"

namespace penstock::engine {
class instance;
}

namespace penstock::front_end {

/// `auto`: a thread makes text itself while the backend is further behind than this. Source: docs/decisions, "auto threshold".
inline constexpr std::size_t threshold_bytes = std::size_t{32} << 10;

/// Room for `bytes` bytes at stream.write, waiting for memory as the overflow policy says. False: the record is dropped, and counted.
///
/// Thread: the stream's own.
bool make_room(engine::instance& engine, transport::thread_stream& stream, std::size_t bytes, level of_record,
               std::uint64_t time_ticks) noexcept;

/// Commits a record at stream.write; a run, which holds one record, is let go of.
///
/// Thread: the stream's own.
void commit_record(transport::thread_stream& stream, std::size_t record_bytes) noexcept;

}  // namespace penstock::front_end
