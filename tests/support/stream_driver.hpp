// SPDX-License-Identifier: MIT
// Drives a thread stream as a log statement does, with times and sizes that the test chooses.
#pragma once

#include <cstring>
#include <string_view>

#include "lib/transport/thread_stream.hpp"

namespace penstock::testing {

inline constexpr detail::call_site text_site{.source = {"{}", "test.cpp", "test", 1}, .level = level::info};

class stream_driver {
 public:
  stream_driver(transport::exchange& memory, transport::thread_stream& stream) : memory_(memory), stream_(stream) {}

  /// Commits a text record; false: there is no memory. Announces the stream if it is parked.
  bool log(std::string_view text, std::uint64_t time_ticks, const detail::call_site& site = text_site, std::uint32_t logger = 0) {
    const std::size_t bytes = detail::record_bytes_for(text.size());
    if (!place(bytes, text, time_ticks, site, logger)) return false;
    detail::commit(stream_, bytes, [this] { stream_.announce_if_parked(); });
    return true;
  }

  /// Lays a record out at stream.write without committing it.
  bool place(std::size_t bytes, std::string_view text, std::uint64_t time_ticks, const detail::call_site& site = text_site,
             std::uint32_t logger = 0) {
    if (stream_.chunk_rest_bytes() < bytes) {
      const transport::chunk_kind kind = bytes <= transport::chunk_room(transport::page_bytes)    ? transport::chunk_kind::page
                                         : bytes <= transport::chunk_room(transport::block_bytes) ? transport::chunk_kind::block
                                                                                                  : transport::chunk_kind::run;
      transport::chunk* opened = memory_.take(kind, bytes + sizeof(transport::chunk));
      if (opened == nullptr) return false;
      stream_.open_chunk(opened);
    }
    auto* header = reinterpret_cast<detail::record_header*>(stream_.write);
    header->size_word = detail::size_word_for(text.size());
    header->logger_word = logger | detail::record_is_text;
    header->time_ticks = time_ticks;
    header->site = &site;
    std::memcpy(header + 1, text.data(), text.size());
    detail::count_accepted(stream_, site.level);
    return true;
  }

  transport::thread_stream& stream() noexcept { return stream_; }

 private:
  transport::exchange& memory_;
  transport::thread_stream& stream_;
};

inline std::string_view text_of(const detail::record_header& record) {
  return {reinterpret_cast<const char*>(&record + 1), record.payload_bytes()};
}

}  // namespace penstock::testing
