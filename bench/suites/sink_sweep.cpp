// SPDX-License-Identifier: MIT
#include "bench/suites/sink_sweep.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>
#include <thread>

#include "bench/suites/checksum.hpp"
#include "bench/suites/content.hpp"
#include "bench/suites/raw_io.hpp"
#include "bench/suites/sink_rows.hpp"
#include "bench/suites/system_calls.hpp"
#include "sinks/factory.hpp"

namespace penstock::bench {
namespace {

using clock = std::chrono::steady_clock;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

sink_config settings_of(const sweep_choice& choice, const std::filesystem::path& file) {
  sink_config settings;
  settings.type = choice.type;
  settings.path = file;
  settings.batch_size = choice.batch_bytes;
  settings.page_cache = choice.cache;
  settings.reopen = false;
  if (choice.type == "io_uring") settings.strict = true;
  if (choice.type == "mmap_ring") settings.size = ring_file_bytes;
  return settings;
}

// Fills each batch from hot memory, as a backend lays out lines, and takes the time of each hand-over.
void drive(sink& destination, std::uint64_t bytes, std::vector<double>* hand_over_us) {
  sink_writer out(destination);
  std::span<std::byte> room = out.room();
  for (std::uint64_t offset = 0; offset < bytes;) {
    std::size_t used = 0;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(room.size(), bytes - offset));
    while (used < wanted) {
      const std::span<const std::byte> piece = content::piece(offset + used, std::min<std::size_t>(wanted - used, std::size_t{16} << 10));
      std::memcpy(room.data() + used, piece.data(), piece.size());
      used += piece.size();
    }
    out.filled(used);
    offset += used;
    const clock::time_point before = clock::now();
    if (offset < bytes)
      room = out.next_room();
    else
      out.finish();
    if (hand_over_us != nullptr) hand_over_us->push_back(std::chrono::duration<double, std::micro>(clock::now() - before).count());
  }
}

void verify(const sweep_choice& choice, const std::filesystem::path& file, std::uint64_t bytes) {
  const column stream{.label = {}, .bytes = bytes, .expected = {}, .stream = content::piece};
  std::string wrong;
  if (choice.type == "mmap_ring")
    wrong = check_ring(file, stream);
  else if (digest_of_file(file) != content::instance().expected(bytes))
    wrong = "the file is not what was written";
  if (!wrong.empty()) throw std::runtime_error(choice.name() + ": verification failed: " + wrong);
}

std::unique_ptr<sink> open(const sweep_choice& choice, const std::filesystem::path& file) {
  ::unlink(file.c_str());
  try {
    return sinks::make_sink(settings_of(choice, file));
  } catch (const std::exception& error) {
    throw unavailable(error.what());
  }
}

}  // namespace

std::string_view text(page_cache_policy policy) noexcept {
  switch (policy) {
    case page_cache_policy::keep:
      return "keep";
    case page_cache_policy::drop:
      return "drop";
    case page_cache_policy::direct:
      return "direct";
  }
  return "?";
}

std::string sweep_choice::name() const { return fmt::format("{}/{}/{}", type, text(cache), size_text(batch_bytes)); }

std::vector<sweep_choice> sweep_choices() {
  std::vector<sweep_choice> choices;
  for (const char* type : {"write", "pwrite", "stdio", "io_uring", "mmap_ring"}) {
    for (const page_cache_policy cache : {page_cache_policy::keep, page_cache_policy::drop, page_cache_policy::direct}) {
      for (std::size_t bytes = sweep_batch_bytes_min; bytes <= sweep_batch_bytes_max; bytes *= 4) {
        const sweep_choice choice{type, cache, bytes};
        config settings;
        settings.sinks["sweep"] = settings_of(choice, std::filesystem::temp_directory_path() / "penstock-sweep.log");
        try {
          validate(settings);
          choices.push_back(choice);
        } catch (const config_error&) {
          // Not every sink has every policy; the config's own rules say which.
        }
      }
    }
  }
  return choices;
}

sweep_pass run_sweep_pass(const sweep_choice& choice, const std::filesystem::path& file, std::uint64_t bytes) {
  std::unique_ptr<sink> destination = open(choice, file);
  sweep_pass result{.bytes = bytes};
  result.hand_over_us.reserve(static_cast<std::size_t>(bytes / choice.batch_bytes) + 2);
  const double cpu_before = cpu_seconds();
  const clock::time_point before = clock::now();
  drive(*destination, bytes, &result.hand_over_us);
  result.seconds = std::chrono::duration<double>(clock::now() - before).count();
  result.cpu_seconds = cpu_seconds() - cpu_before;
  destination.reset();
  verify(choice, file, bytes);
  ::unlink(file.c_str());
  return result;
}

std::optional<double> system_calls_per_mb(const sweep_choice& choice, const std::filesystem::path& file) {
  // Enough for several batches of the largest size; more would only repeat itself.
  constexpr std::uint64_t bytes = std::uint64_t{16} << 20;
  const auto calls = count_system_calls([&] {
    const std::unique_ptr<sink> destination = open(choice, file);
    counting_begins();
    drive(*destination, bytes, nullptr);
    counting_ends();
  });
  ::unlink(file.c_str());
  if (!calls) return std::nullopt;
  return static_cast<double>(*calls) / (static_cast<double>(bytes) / 1e6);
}

}  // namespace penstock::bench
