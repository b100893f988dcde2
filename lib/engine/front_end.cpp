// SPDX-License-Identifier: MIT
// The slow side of a log statement: whatever its fast path has no room for.
#include <pthread.h>
#include <string.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include <penstock/detail/stream_front.hpp>
#include <penstock/detail/tick_clock.hpp>
#include <penstock/log.hpp>

#include "lib/backend/message.hpp"
#include "lib/engine/engine.hpp"
#include "lib/engine/front_end.hpp"
#include "lib/engine/front_memory.hpp"
#include "lib/transport/thread_stream.hpp"

namespace penstock::detail {

namespace {

using front_end::commit_record;
using front_end::make_room;
using front_end::threshold_bytes;
using transport::thread_stream;

// How much a thread logs before it looks again how far behind the backend is.
constexpr std::size_t look_again_bytes = std::size_t{2} << 10;
// Larger arguments are mostly strings: laying them out is a copy, which the backend does as fast, and saves one here.
constexpr std::size_t deferred_always_bytes = 1024;
constexpr std::size_t text_bytes_min = 64;  // Less room at a chunk's end is not tried: most texts would not fit.

constinit stream_front nowhere{};

thread_stream* own_stream() noexcept { return current_stream == &nowhere ? nullptr : static_cast<thread_stream*>(current_stream); }

// A thread ends: its stream goes back as soon as the backend has read it. A key's destructor runs after those of thread_local objects, so
// that these may log; what is logged even later opens a stream once more.
void end_thread(void* raw) noexcept {
  auto* stream = static_cast<thread_stream*>(raw);
  current_stream = &nowhere;
  stream->close();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  engine::instance& engine = engine::instance::get();
  if (!stream->announce_if_parked()) return;
  if (engine.state() == engine::state::stopped) {
    engine.drain_on_this_thread();
  } else {
    engine.worker().wake();
  }
}

pthread_key_t end_key() noexcept {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    ::pthread_key_create(&made, &end_thread);
    return made;
  }();
  return key;
}

thread_stream* open_stream(engine::instance& engine) noexcept {
  try {
    thread_stream* opened = engine.streams().open(os::thread_id());
    ::pthread_setspecific(end_key(), opened);
    current_stream = opened;
    return opened;
  } catch (...) {
    return nullptr;
  }
}

// Sets how far the fast path may go: to the end of the chunk, or to where it is time to look how far behind the backend is.
void set_limit(const engine::front_settings& front, thread_stream& stream) noexcept {
  const format_mode format = front.format.load(std::memory_order_relaxed);
  if (format == format_mode::caller || front.clock.load(std::memory_order_relaxed) == clock_source::system ||
      stream.chunk_begin == nullptr) {
    stream.limit = stream.write;
    return;
  }
  const std::uint64_t unread = stream.unread_bytes();
  if (unread < threshold_bytes) {
    stream.limit = stream.write + stream.chunk_rest_bytes();
    return;
  }
  engine::instance::get().worker().wake();
  stream.text_until = stream.write + look_again_bytes;
  stream.limit =
      format == format_mode::automatic ? stream.write : stream.write + std::min<std::size_t>(stream.chunk_rest_bytes(), threshold_bytes);
}

bool wants_text(const engine::front_settings& front, thread_stream& stream, std::size_t record_bytes) noexcept {
  switch (front.format.load(std::memory_order_relaxed)) {
    case format_mode::caller:
      return true;
    case format_mode::backend:
      return false;
    case format_mode::automatic:
      break;
  }
  if (record_bytes > deferred_always_bytes) return false;
  if (stream.write < stream.text_until) return true;
  return stream.unread_bytes() >= threshold_bytes;
}

[[gnu::noinline]] void add_frame(std::unique_ptr<transport::scratch_frame>& next, transport::scratch_frame* below) {
  next = std::make_unique<transport::scratch_frame>();
  next->below = below;
}

inline transport::scratch_frame& push_frame(thread_stream& stream) {
  std::unique_ptr<transport::scratch_frame>& next = stream.frame == nullptr ? stream.first_frame : stream.frame->above;
  if (next == nullptr) [[unlikely]]
    add_frame(next, stream.frame);
  stream.frame = next.get();
  return *next;
}

inline void pop_frame(thread_stream& stream) noexcept { stream.frame = stream.frame->below; }

inline void after_commit(engine::instance& engine, thread_stream& stream) noexcept {
  const engine::front_settings& front = engine.front();
  if (front.format.load(std::memory_order_relaxed) == format_mode::automatic && stream.write < stream.text_until) {
    stream.limit = stream.write;
    return;
  }
  set_limit(front, stream);
}

// The record's level may have been raised by the start that the record itself caused.
bool passes(engine::instance& engine, level of_record, std::uint32_t logger_index) noexcept;

// What a text record begins with: the header, and the source of a site with site_source_in_record.
struct text_record {
  const call_site& site;
  const source_facts* source;
  std::uint32_t logger_index;
  std::uint64_t time_ticks;
};

std::size_t source_bytes(const call_site& site) noexcept { return (site.flags & site_source_in_record) != 0 ? sizeof(source_facts) : 0; }

std::uint32_t flags_of(const text_out& laid_out) noexcept { return laid_out.printable ? std::uint32_t{record_is_printable} : 0; }

// Puts finished text into the chunk; what is too long for a record is cut, with a marker.
void put_text(engine::instance& engine, thread_stream& stream, const text_record& record, transport::spilling_text& laid_out) noexcept {
  const std::size_t before = source_bytes(record.site);
  const std::size_t most_bytes = backend::text_bytes_max(engine.front().record_bytes_max.load(std::memory_order_relaxed), before != 0);
  std::uint32_t flags = record_is_text | flags_of(laid_out);
  if (laid_out.view().size() > most_bytes) {
    backend::cut_short(laid_out, most_bytes);
    flags |= record_cut_short;
    stream.count_cut_short();
  }
  const std::string_view text = laid_out.view();
  const std::size_t record_bytes = record_bytes_for(before + text.size());
  if (!make_room(engine, stream, record_bytes, record.site.level, record.time_ticks)) return;
  *reinterpret_cast<record_header*>(stream.write) = {size_word_for(before + text.size()), record.logger_index | flags, record.time_ticks,
                                                     &record.site};
  std::byte* place = stream.write + sizeof(record_header);
  if (before != 0) std::memcpy(place, record.source, sizeof(source_facts));
  if (!text.empty()) std::memcpy(place + before, text.data(), text.size());
  commit_record(stream, record_bytes);
}

// Lays the text of encoded arguments out: in the chunk itself, if it fits there and no user's code runs, which may log too.
void put_laid_out(engine::instance& engine, thread_stream& stream, const record_header& encoded, transport::text_spill& spill) noexcept {
  const call_site& site = *encoded.site;
  const backend::record_view body(encoded);
  const std::size_t before = sizeof(record_header) + source_bytes(site);
  const bool in_place = (site.flags & site_user_types) == 0 && stream.chunk_rest_bytes() > before + text_bytes_min && !engine::on_backend();
  char* const begin = in_place ? reinterpret_cast<char*>(stream.write + before) : nullptr;
  transport::spilling_text out(begin, in_place ? reinterpret_cast<char*>(stream.chunk_end - 8) : nullptr, spill);
  backend::lay_out_record(site, *body.source, body.payload, out);
  if (!in_place || out.begin != begin) [[unlikely]] {
    put_text(engine, stream, {site, body.source, encoded.logger_index(), encoded.time_ticks}, out);
    return;
  }
  const auto payload_bytes = static_cast<std::size_t>(reinterpret_cast<std::byte*>(out.pos) - stream.write) - sizeof(record_header);
  *reinterpret_cast<record_header*>(stream.write) = {size_word_for(payload_bytes), encoded.logger_word | record_is_text | flags_of(out),
                                                     encoded.time_ticks, &site};
  if (before != sizeof(record_header)) std::memcpy(stream.write + sizeof(record_header), body.source, sizeof(source_facts));
  commit(stream, record_bytes_for(payload_bytes));
}

bool passes(engine::instance& engine, level of_record, std::uint32_t logger_index) noexcept {
  return of_record >= engine.loggers().threshold_at(logger_index);
}

// The stream of this thread, with the library started; null: there is none, or the record does not pass.
inline thread_stream* prepare(engine::instance& engine, const call_site& site, std::uint32_t logger_index,
                              std::uint64_t& time_ticks) noexcept {
  const bool early = engine.state() == engine::state::unstarted;
  if (early) [[unlikely]] {
    engine.ensure_started();
    if (!passes(engine, site.level, logger_index)) return nullptr;
  }
  thread_stream* stream = own_stream();
  if (stream == nullptr) [[unlikely]]
    stream = open_stream(engine);
  if (stream == nullptr) [[unlikely]] {
    engine.count_homeless(site.level);
    return nullptr;
  }
  count_accepted(*stream, site.level);
  if (engine.front().clock.load(std::memory_order_relaxed) == clock_source::system) {
    time_ticks = static_cast<std::uint64_t>(backend::system_now());
  } else if (early) {
    time_ticks = counter_ticks();
  }
  return stream;
}

}  // namespace

constinit thread_local stream_front* current_stream = &nowhere;

std::byte* reserve_slow(std::size_t record_bytes, const call_site& site, std::uint32_t logger_index, std::uint64_t& time_ticks) noexcept {
  engine::instance& engine = engine::instance::get();
  thread_stream* stream = prepare(engine, site, logger_index, time_ticks);
  if (stream == nullptr) return nullptr;
  transport::scratch_frame* const below = stream->frame;
  try {
    const engine::front_settings& front = engine.front();
    const bool as_text = record_bytes > front.record_bytes_max.load(std::memory_order_relaxed) || wants_text(front, *stream, record_bytes);
    if (!as_text && !make_room(engine, *stream, record_bytes, site.level, time_ticks)) return nullptr;
    transport::scratch_frame& frame = push_frame(*stream);
    frame.record_bytes = record_bytes;
    frame.as_text = as_text;
    if (!as_text) return stream->write;
    return reinterpret_cast<std::byte*>(frame.arguments.make_room(record_bytes));
  } catch (...) {
    stream->frame = below;
    stream->count_dropped(drop_reason::overflow, site.level, time_ticks);
    engine.worker().note_drop();
    return nullptr;
  }
}

void commit_slow(std::byte* place) noexcept {
  engine::instance& engine = engine::instance::get();
  thread_stream& stream = *own_stream();
  transport::scratch_frame& frame = *stream.frame;
  if (!frame.as_text) {
    pop_frame(stream);
    commit_record(stream, frame.record_bytes);
  } else {
    put_laid_out(engine, stream, *reinterpret_cast<const record_header*>(place), frame.text);
    frame.arguments.trim();
    frame.text.trim();
    pop_frame(stream);
  }
  after_commit(engine, stream);
}

void log_text(const call_site& site, const source_facts* source, std::uint32_t logger_index, std::uint64_t time_ticks,
              void (*format)(const void* context, text_out& out), const void* context) noexcept {
  engine::instance& engine = engine::instance::get();
  thread_stream* stream = prepare(engine, site, logger_index, time_ticks);
  if (stream == nullptr) return;
  transport::scratch_frame* frame = nullptr;
  try {
    frame = &push_frame(*stream);
  } catch (...) {
    stream->count_dropped(drop_reason::overflow, site.level, time_ticks);
    engine.worker().note_drop();
    return;
  }
  transport::spilling_text out(nullptr, nullptr, frame->text);
  backend::lay_out_by(format, context, source != nullptr ? *source : site.source, out);
  source_facts kept = source != nullptr ? *source : site.source;
  put_text(engine, *stream, {site, &kept, logger_index, time_ticks}, out);
  frame->text.trim();
  pop_frame(*stream);
  set_limit(engine.front(), *stream);
  if (site.level >= level::error) wake_for_urgent();
}

void unpark() noexcept {
  thread_stream& stream = *own_stream();
  engine::instance& engine = engine::instance::get();
  if (!stream.announce_if_parked()) return;
  if (engine.state() == engine::state::stopped) {
    engine.drain_on_this_thread();
  } else {
    engine.worker().wake();
  }
}

void wake_for_urgent() noexcept { engine::instance::get().worker().wake(); }

void module_unloading() noexcept {
  engine::instance& engine = engine::instance::get();
  if (const engine::state now = engine.state(); now == engine::state::running || now == engine::state::stopped)
    static_cast<void>(engine.ask(backend::request_kind::unload, std::chrono::seconds(10)));
}

}  // namespace penstock::detail

void penstock::front_end::forget_stream() noexcept {
  ::pthread_setspecific(detail::end_key(), nullptr);
  detail::current_stream = &detail::nowhere;
}
