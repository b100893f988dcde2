// SPDX-License-Identifier: MIT
#include "lib/engine/front_memory.hpp"

#include <algorithm>
#include <chrono>

#include "lib/engine/engine.hpp"

namespace penstock::front_end {

namespace {

using transport::chunk;
using transport::chunk_kind;
using transport::thread_stream;

// What a sink, a formatter or an error handler may log on the backend's own thread before the backend comes to it.
constexpr std::size_t backend_quota_bytes = std::size_t{256} << 10;

// A chunk with room for `bytes` bytes, if the budget has one; a thread begins with a page, since many log a line or two.
chunk* take_chunk(engine::instance& engine, const thread_stream& stream, std::size_t bytes) noexcept {
  transport::exchange& memory = engine.memory();
  if (bytes > transport::chunk_room(transport::block_bytes)) return memory.take(chunk_kind::run, bytes + sizeof(chunk));
  const bool fits_page = bytes <= transport::chunk_room(transport::page_bytes);
  if (fits_page && !stream.begun()) return memory.take(chunk_kind::page);
  chunk* found = memory.may_open_block() || !fits_page ? memory.take(chunk_kind::block) : nullptr;
  return found == nullptr && fits_page ? memory.take(chunk_kind::page) : found;
}

class large_claim {
 public:
  explicit large_claim(transport::exchange& memory) noexcept : memory_(memory) {}
  ~large_claim() {
    if (held_) memory_.release_claim();
  }
  large_claim(const large_claim&) = delete;
  large_claim& operator=(const large_claim&) = delete;
  // True: this thread may take pages now.
  bool pass(std::size_t bytes) noexcept {
    if (held_) return true;
    if (bytes > transport::chunk_room(transport::block_bytes)) return held_ = memory_.try_claim();
    return !memory_.claimed();
  }

 private:
  transport::exchange& memory_;
  bool held_ = false;
};

// Whoever waits for memory holds none, and a run goes back as soon as its one record is read: else threads could wait for each other.
void let_go_of_chunk(thread_stream& stream) noexcept {
  stream.detach_chunk();
  detail::unpark();
}

// Waits for memory as the overflow policy says. Null: the record is dropped.
chunk* wait_for_chunk(engine::instance& engine, thread_stream& stream, std::size_t bytes, level of_record, drop_reason& why) noexcept {
  const engine::front_settings& front = engine.front();
  why = drop_reason::overflow;
  if (front.overflow == overflow_policy::drop && of_record < front.keep_level) return nullptr;
  const std::int64_t timeout_ns = front.block_timeout_ns;
  const std::int64_t deadline_ns = timeout_ns == 0 ? 0 : backend::steady_now() + timeout_ns;
  let_go_of_chunk(stream);
  transport::exchange::waiter waiting(engine.memory());
  large_claim claim(engine.memory());
  for (;;) {
    waiting.want(bytes);
    const std::uint32_t seen = waiting.freed_count();
    if (claim.pass(bytes))
      if (chunk* found = take_chunk(engine, stream, bytes)) return found;
    // Nobody frees memory then: the backend is stuck for good, or could not be started.
    if (const engine::state now = engine.state(); now == engine::state::left_behind || now == engine::state::unstarted) {
      why = drop_reason::stopping;
      return nullptr;
    }
    if (engine.state() == engine::state::stopped) engine.drain_on_this_thread();
    engine.worker().wake();
    std::int64_t rest_ns = 100'000'000;  // Looks at the state of the library again.
    if (deadline_ns != 0) {
      rest_ns = std::min(rest_ns, deadline_ns - backend::steady_now());
      if (rest_ns <= 0) {
        why = drop_reason::timeout;
        return nullptr;
      }
    }
    waiting.wait_for_memory(seen, std::chrono::nanoseconds(rest_ns));
  }
}

}  // namespace

void commit_record(thread_stream& stream, std::size_t record_bytes) noexcept {
  detail::commit(stream, record_bytes);
  if (stream.writing()->kind() == chunk_kind::run) let_go_of_chunk(stream);
}

bool make_room(engine::instance& engine, thread_stream& stream, std::size_t bytes, level of_record, std::uint64_t time_ticks) noexcept {
  const bool own = engine::on_backend();
  drop_reason why = drop_reason::backend_quota;
  if (!own || stream.unread_bytes() + bytes <= backend_quota_bytes) {
    if (stream.chunk_rest_bytes() >= bytes) return true;
    chunk* found = engine.memory().claimed() ? nullptr : take_chunk(engine, stream, bytes);
    if (found == nullptr && !own) found = wait_for_chunk(engine, stream, bytes, of_record, why);
    if (found != nullptr) {
      stream.open_chunk(found);
      // Not for less: a wake-up is a system call, and a nap is short while a stream is active.
      if (stream.unread_bytes() >= threshold_bytes) engine.worker().wake();
      return true;
    }
  }
  stream.count_dropped(why, of_record, time_ticks);
  engine.worker().note_drop();
  return false;
}

}  // namespace penstock::front_end
