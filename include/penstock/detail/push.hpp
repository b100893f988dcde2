// SPDX-License-Identifier: MIT
// The path of a log statement: level, time, place, arguments, commit. No call on its straight line unless a string is copied.
#pragma once

#include <cstddef>
#include <cstdint>

#include <penstock/base/call_site.hpp>
#include <penstock/detail/format_check.hpp>
#include <penstock/detail/layout.hpp>
#include <penstock/detail/record.hpp>
#include <penstock/detail/stream_front.hpp>
#include <penstock/detail/tick_clock.hpp>

namespace penstock::detail {

/// Puts a record with encoded arguments into the thread's chunk. `source` only for sites with site_source_in_record.
template <level Level, bool SourceInRecord, class Arguments>
[[gnu::always_inline]] inline void push(const call_site& site, const source_facts* source, std::uint32_t logger_index,
                                        const Arguments& arguments) noexcept {
  std::uint64_t time_ticks = counter_ticks();
  const std::size_t payload_bytes = arguments.bytes() + (SourceInRecord ? sizeof(source_facts) : 0);
  const std::size_t record_bytes = record_bytes_for(payload_bytes);
  stream_front& stream = *current_stream;
  std::byte* place = stream.write;
  const bool fast = static_cast<std::size_t>(stream.limit - place) >= record_bytes;
  if (!fast) [[unlikely]] {
    place = reserve_slow(record_bytes, site, logger_index, time_ticks);
    if (place == nullptr) return;
  }
  auto* header = reinterpret_cast<record_header*>(place);
  header->size_word = size_word_for(payload_bytes);
  header->logger_word = logger_index;
  header->time_ticks = time_ticks;
  header->site = &site;
  std::byte* payload = place + sizeof(record_header);
  if constexpr (SourceInRecord) {
    store_as(payload, *source);
    payload += sizeof(source_facts);
  }
  arguments.store(payload);
  if (fast) [[likely]] {
    count_accepted(stream, Level);
    commit(stream, record_bytes);
  } else {
    commit_slow(place);
  }
  if constexpr (Level >= level::error) wake_for_urgent();
}

constexpr std::uint8_t flags_of(bool user_types, bool source_in_record) noexcept {
  return static_cast<std::uint8_t>((user_types ? site_user_types : site_plain) | (source_in_record ? site_source_in_record : site_plain));
}

template <const source_facts& Facts, level Level, class Statement>
inline constexpr call_site macro_site{Facts, &Statement::lay_out, Level, flags_of(Statement::user_types, false)};

template <level Level, class Statement>
inline constexpr call_site function_site{{}, &Statement::lay_out, Level, flags_of(Statement::user_types, true)};

/// For statements that are laid out at once: the site of a text record needs no layout function.
template <const source_facts& Facts, level Level>
inline constexpr call_site macro_text_site{Facts, nullptr, Level, site_user_types};
template <level Level>
inline constexpr call_site function_text_site{{}, nullptr, Level, flags_of(true, true)};

/// Whether statements of a level are compiled at all.
constexpr bool is_active(level of_statement, int active_level) noexcept { return static_cast<int>(of_statement) >= active_level; }

/// Runs `call`, a callable with a text_out&, from behind a plain function pointer.
template <class Call>
void run_layout(const void* context, text_out& out) {
  (*static_cast<const Call*>(context))(out);
}

/// A statement of a macro.
template <const source_facts& Facts, level Level, class Format, class... A>
[[gnu::always_inline]] inline void log_statement(std::uint32_t logger_index, Format, checked_format<std::type_identity_t<A>...>,
                                                 const A&... arguments) noexcept {
  using statement = compiled_statement<Format, A...>;
  if constexpr (statement::deferrable) {
    push<Level, false>(macro_site<Facts, Level, statement>, nullptr, logger_index, typename statement::arguments(arguments...));
  } else {
    const auto call = [&](text_out& out) { statement::lay_out_now(out, arguments...); };
    log_text(macro_text_site<Facts, Level>, nullptr, logger_index, counter_ticks(), &run_layout<decltype(call)>, &call);
  }
}

/// A statement of the macro-free API.
template <level Level, class... A>
void log_function(std::uint32_t logger_index, const source_facts& source, bool is_runtime, const A&... arguments) noexcept {
  using statement = runtime_statement<A...>;
  if constexpr (statement::deferrable) {
    if (!is_runtime) {
      push<Level, true>(function_site<Level, statement>, &source, logger_index, typename statement::arguments(arguments...));
      return;
    }
  }
  const auto call = [&](text_out& out) { statement::lay_out_now(out, source.format, arguments...); };
  log_text(function_text_site<Level>, &source, logger_index, counter_ticks(), &run_layout<decltype(call)>, &call);
}

}  // namespace penstock::detail
