// SPDX-License-Identifier: MIT
#include "lib/backend/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "lib/backend/escape.hpp"

namespace penstock::backend {

namespace {

constexpr std::string_view cut_marker = "[... cut]";

// Replaces what is laid out so far by a line that says what went wrong. A formatter's own text is the user's: it is cut, not trusted.
void put_error(const source_facts& source, const char* what, detail::text_out& out) noexcept {
  out.printable = false;
  try {
    fmt::memory_buffer text;
    fmt::format_to(fmt::appender(text), "{} [format error: {}] ({}:{})", source.format, std::string_view(what).substr(0, 500), source.file,
                   source.line);
    out.pos = out.begin;
    std::memcpy(out.room(text.size()), text.data(), text.size());
    out.pos += text.size();
  } catch (...) {
    out.pos = out.begin;  // No memory even for that: the record is an empty line.
  }
}

template <class Call>
void guarded(const source_facts& source, detail::text_out& out, Call call) noexcept {
  try {
    call();
  } catch (const std::exception& error) {
    put_error(source, error.what(), out);
  } catch (...) {
    put_error(source, "an exception that is no std::exception", out);
  }
}

}  // namespace

void cut_short(detail::text_out& out, std::size_t most_bytes) noexcept {
  const std::string_view text(out.begin, static_cast<std::size_t>(out.pos - out.begin));
  out.pos = out.begin + utf8_boundary(text, most_bytes - cut_marker.size());
  std::memcpy(out.pos, cut_marker.data(), cut_marker.size());
  out.pos += cut_marker.size();
}

void lay_out_record(const detail::call_site& site, const source_facts& source, const std::byte* arguments, detail::text_out& out) noexcept {
  guarded(source, out, [&] { site.layout(arguments, source, out); });
}

void lay_out_by(void (*format)(const void* context, detail::text_out& out), const void* context, const source_facts& source,
                detail::text_out& out) noexcept {
  guarded(source, out, [&] { format(context, out); });
}

}  // namespace penstock::backend
