// SPDX-License-Identifier: MIT
#include "bench/suites/sink_rows.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <system_error>
#include <thread>

#include "bench/suites/raw_io.hpp"
#include "lib/os/mapping.hpp"
#include "sinks/factory.hpp"
#include "sinks/ring_format.hpp"
#include "sinks/ring_frames.hpp"

namespace penstock::bench {
namespace {

void require(outcome result, const char* what) {
  if (!result.ok()) throw std::system_error(result.os_error, std::generic_category(), what);
}

}  // namespace

std::string size_text(std::size_t bytes) {
  if (bytes % (std::size_t{1} << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes % 1024 == 0) return fmt::format("{} KiB", bytes >> 10);
  return fmt::format("{} bytes", bytes);
}

void sink_writer::write(std::span<const std::byte> record) {
  if (batch_.end == cut::lines && used_bytes_ != 0 && record.size() > batch_.room.size() - used_bytes_) submit();
  copy_in(record);
}

void sink_writer::stream(std::span<const std::byte> data) { copy_in(data); }

std::span<std::byte> sink_writer::room() {
  if (used_bytes_ == batch_.room.size() && used_bytes_ != 0) submit();
  while (batch_.room.empty()) {
    batch_ = sink_.lend({});
    if (!batch_.room.empty()) break;
    // Everything is in flight. flush() reaps what is done; an error in flight shows here.
    if (const outcome result = sink_.flush(); result.code != errc::pending) require(result, "flush");
    std::this_thread::yield();
  }
  return batch_.room.subspan(used_bytes_);
}

std::span<std::byte> sink_writer::next_room() {
  if (used_bytes_ != 0) submit();
  return room();
}

void sink_writer::filled(std::size_t bytes) { used_bytes_ += bytes; }

void sink_writer::finish() {
  if (used_bytes_ != 0) submit();
  for (;;) {
    const outcome result = sink_.flush();
    if (result.code != errc::pending) return require(result, "flush");
    std::this_thread::yield();
  }
}

void sink_writer::submit() {
  const outcome result = sink_.submit(used_bytes_);
  if (result.code != errc::pending) require(result, "submit");
  batch_ = {};
  used_bytes_ = 0;
}

void sink_writer::copy_in(std::span<const std::byte> data) {
  while (!data.empty()) {
    const std::span<std::byte> free = room();
    const std::size_t n = std::min(free.size(), data.size());
    std::memcpy(free.data(), data.data(), n);
    filled(n);
    data = data.subspan(n);
  }
}

std::vector<sink_choice> sink_choices(const options& chosen) {
  if (chosen.file == file_policy::in_place) return {};
  std::vector<sink_choice> choices;
  for (const char* type : {"write", "pwrite", "stdio", "io_uring", "mmap_ring"}) {
    for (const std::size_t batch_bytes : {std::size_t{64} << 10, std::size_t{256} << 10, std::size_t{1} << 20}) {
      if (chosen.smoke && batch_bytes != std::size_t{64} << 10) continue;
      std::string row = fmt::format("sink {} {}", type, size_text(batch_bytes));
      if (std::string_view(type) == "mmap_ring") row += fmt::format(", keeps the last {}", size_text(ring_file_bytes));
      choices.push_back({type, batch_bytes, std::move(row)});
    }
  }
  return choices;
}

std::unique_ptr<sink> open_sink(const sink_choice& choice, const pass& the_pass) {
  if (the_pass.file == file_policy::truncate && ::truncate(the_pass.target.c_str(), 0) != 0) fail("cannot truncate", the_pass.target);
  sink_config settings;
  settings.type = choice.type;
  settings.path = the_pass.target;
  settings.batch_size = choice.batch_bytes;
  settings.strict = true;
  settings.reopen = false;
  if (choice.type == "mmap_ring") settings.size = ring_file_bytes;
  try {
    return sinks::make_sink(settings);
  } catch (const std::exception& error) {
    // Only these two may be missing on a healthy machine: the one needs a kernel that allows it, the other an mmap that can be populated.
    if (choice.type == "io_uring" || choice.type == "mmap_ring") throw unavailable(error.what());
    throw;
  }
}

void add_sink_rows(column& size, const options& chosen, const std::function<void(sink_writer&, const pass&)>& produce) {
  for (const sink_choice& choice : sink_choices(chosen)) {
    cell row{.row = choice.row, .kind = row_kind::sink};
    row.run = [choice, produce](pass& the_pass) {
      std::unique_ptr<sink> destination = open_sink(choice, the_pass);
      sink_writer writer(*destination);
      the_pass.started();
      produce(writer, the_pass);
      the_pass.returned();
      writer.finish();
      destination.reset();
      the_pass.closed();
    };
    if (choice.type == "mmap_ring") {
      const column stream_only{.label = {}, .bytes = size.bytes, .expected = size.expected, .stream = size.stream};
      row.verify = [stream_only](const pass& done) { return check_ring(done.target, stream_only); };
    }
    size.cells.push_back(std::move(row));
  }
}

std::string check_ring(const std::filesystem::path& file, const column& size) {
  const os::descriptor fd = open_source(file);
  alignas(sinks::ring_header) std::array<std::byte, sizeof(sinks::ring_header)> first{};
  if (get(fd.get(), first) != first.size()) return "the file is too short to be a ring";
  const auto& header = *reinterpret_cast<const sinks::ring_header*>(first.data());
  if (header.magic != sinks::ring_magic) return "the file is no ring";
  const std::uint64_t data_bytes = header.file_bytes - header.header_bytes;
  const os::mirrored_mapping memory(fd.get(), {.header_bytes = header.header_bytes, .data_bytes = data_bytes});
  const sinks::ring_data data{memory.data(), data_bytes, header.file_id};
  std::uint64_t kept_bytes = 0;
  std::vector<sinks::frame_facts> frames;
  std::optional<sinks::frame_facts> frame = sinks::frame_at(data, header.tail.load());
  while (frame) {
    frames.push_back(*frame);
    kept_bytes += frame->line_bytes;
    frame = sinks::frame_at(data, frame->end());
  }
  if (kept_bytes > size.bytes) return "the ring holds more than was written";
  if (kept_bytes < std::min<std::uint64_t>(size.bytes, data_bytes / 2)) return fmt::format("the ring kept only {} bytes", kept_bytes);
  std::uint64_t offset = size.bytes - kept_bytes;
  for (const sinks::frame_facts& one : frames) {
    for (std::span<const std::byte> lines = sinks::lines_of(data, one); !lines.empty();) {
      const std::span<const std::byte> expected = size.stream(offset, lines.size());
      if (std::memcmp(lines.data(), expected.data(), expected.size()) != 0)
        return fmt::format("the ring does not hold the end of what was written (from byte {} on)", offset);
      lines = lines.subspan(expected.size());
      offset += expected.size();
    }
  }
  return {};
}

}  // namespace penstock::bench
