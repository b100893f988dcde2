// SPDX-License-Identifier: MIT
#include "bench/cli/ring_command.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>

#include "lib/os/file.hpp"
#include "sinks/ring_reader.hpp"

namespace penstock::cli {
namespace {

using sinks::reader_losses;
using sinks::ring_reader;

/// How often a follower looks: unnoticeable for a person, and next to no work.
constexpr auto poll_interval = std::chrono::milliseconds(20);
/// Lines are collected up to here before they are written.
constexpr std::size_t output_bytes = std::size_t{256} << 10;

void put(int fd, std::string& text) {
  const os::write_result written = os::write_all(fd, std::as_bytes(std::span(text)));
  if (!written.result.ok()) throw std::system_error(written.result.os_error, std::generic_category(), "cannot write the lines");
  text.clear();
}

void tell(const std::string& text) { std::fprintf(stderr, "penstock: %s\n", text.c_str()); }

/// Says what was not given since `told`.
void tell_losses(const reader_losses& now, reader_losses& told) {
  if (now.overtaken_frames != told.overtaken_frames) {
    tell(fmt::format("the writer was faster: {} batches were overwritten before they were read",
                     now.overtaken_frames - told.overtaken_frames));
  }
  if (now.unfinished_lines != told.unfinished_lines) {
    tell(fmt::format("{} lines ({} bytes), which their writer was killed before it finished, are left out",
                     now.unfinished_lines - told.unfinished_lines, now.unfinished_line_bytes - told.unfinished_line_bytes));
  }
  told = now;
}

int cat(const ring_call& call, int out_fd) {
  ring_reader reader(call.file);
  // What is there now: a busy writer would keep this going for ever.
  const std::uint64_t end = reader.facts().frames.end;
  std::string text;
  while (reader.position() < end && reader.read(text)) {
    if (text.size() >= output_bytes) put(out_fd, text);
  }
  put(out_fd, text);
  reader_losses told;
  tell_losses(reader.losses(), told);
  if (reader.unfinished_bytes() != 0 && !reader.owner_lives())
    tell(fmt::format("an unfinished line of {} bytes at the end is left out", reader.unfinished_bytes()));
  return 0;
}

std::string time_text(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm civil{};
  ::localtime_r(&seconds, &civil);
  const std::string zone = fmt::format("{:%z}", civil);
  return fmt::format("{:%FT%T}.{:06}{}:{}", civil, unix_ns % 1'000'000'000 / 1'000, zone.substr(0, 3), zone.substr(3));
}

int info(const ring_call& call, int out_fd) {
  const ring_reader reader(call.file);
  const sinks::ring_facts facts = reader.facts();
  const std::uint64_t used_bytes = facts.frames.end - facts.frames.begin;
  std::string text = fmt::format("file     {}\n", call.file.string());
  text += fmt::format("size     {} bytes, {} for lines\n", facts.file_bytes, facts.data_bytes);
  text += fmt::format("used     {} bytes ({:.1f} %) in {} batches\n", used_bytes,
                      100.0 * static_cast<double>(used_bytes) / static_cast<double>(facts.data_bytes), facts.frames.frame_count);
  if (facts.frames.newest) {
    text += fmt::format("sequence {} to {}\n", facts.frames.oldest->sequence, facts.frames.newest->sequence);
    text += fmt::format("oldest   {}\n", time_text(facts.frames.oldest->time_ns));
    text += fmt::format("newest   {}\n", time_text(facts.frames.newest->time_ns));
  } else {
    text += "sequence none yet\n";
  }
  text += fmt::format("made     {}\n", time_text(facts.created_ns));
  if (facts.owner_pid == 0 || (facts.owner_stopped && !facts.owner_lives))
    text += "writer   none; the last one ended in order\n";
  else if (facts.owner_lives)
    text += fmt::format("writer   process {}, alive{}\n", facts.owner_pid, facts.owner_stopped ? "; it stopped logging" : "");
  else
    text += fmt::format("writer   process {}, dead; it did not end in order\n", facts.owner_pid);
  if (facts.frames.broken && !facts.owner_lives) text += "damaged  yes; a part of the file did not reach the disk\n";
  put(out_fd, text);
  return 0;
}

/// Removes all but the last `count` of the lines, each of which ends with a newline.
void keep_last_lines(std::string& text, std::size_t count) {
  std::size_t begin = text.size();
  for (; count != 0 && begin != 0; --count) {
    const std::size_t newline = begin >= 2 ? text.rfind('\n', begin - 2) : std::string::npos;
    begin = newline == std::string::npos ? 0 : newline + 1;
  }
  text.erase(0, begin);
}

/// Shows what is there, as much of it as was asked for, up to the newest line.
void show_first_lines(ring_reader& reader, const ring_call& call, int out_fd) {
  std::string text;
  while (reader.read(text)) {
    if (text.size() < output_bytes) continue;
    if (call.lines)
      keep_last_lines(text, *call.lines);
    else
      put(out_fd, text);
    if (text.size() >= output_bytes) break;  // very long lines: no more collecting, the rest follows
  }
  if (call.lines) keep_last_lines(text, *call.lines);
  put(out_fd, text);
}

/// Reads the path again as long as it is asked to: over restarts of the writer, and on to the file that takes this one's place.
class follower {
 public:
  follower(const ring_call& call, int out_fd) : call_(call), out_fd_(out_fd), reader_(std::make_unique<ring_reader>(call.file)) {
    show_first_lines(*reader_, call, out_fd);
    tell_losses(reader_->losses(), told_);
  }

  void poll() {
    if (reader_) drain();
    if (reader_ && !reader_->replaced()) return;
    // What its writer added between the last look and the change.
    if (reader_) drain();
    change_over();
  }

 private:
  void drain() {
    try {
      while (reader_->read(text_)) {
        if (text_.size() >= output_bytes) put(out_fd_, text_);
      }
    } catch (const std::system_error&) {
      throw;  // the output, not the ring
    } catch (const std::runtime_error& error) {
      tell(std::string(error.what()) + "; waiting for its writer to make a new one");
      reader_.reset();
    }
    put(out_fd_, text_);
    if (reader_) tell_losses(reader_->losses(), told_);
  }

  /// The new file may not be finished yet, or be no ring at all: then the next poll tries again.
  void change_over() {
    try {
      reader_ = std::make_unique<ring_reader>(call_.file);
      told_ = {};
      told_trouble_ = false;
      drain();
    } catch (const std::exception& error) {
      if (!told_trouble_ && reader_) tell(std::string(error.what()) + "; trying again");
      told_trouble_ = true;
    }
  }

  const ring_call& call_;
  int out_fd_;
  std::unique_ptr<ring_reader> reader_;
  reader_losses told_{};
  bool told_trouble_ = false;
  std::string text_{};
};

int follow(const ring_call& call, int out_fd, const std::atomic<bool>* stop) {
  follower lines(call, out_fd);
  while (stop == nullptr || !stop->load(std::memory_order_relaxed)) {
    lines.poll();
    std::this_thread::sleep_for(poll_interval);
  }
  lines.poll();
  return 0;
}

}  // namespace

int run_ring_command(const ring_call& call, int out_fd, const std::atomic<bool>* stop) {
  try {
    switch (call.what) {
      case ring_call::action::cat:
        return cat(call, out_fd);
      case ring_call::action::info:
        return info(call, out_fd);
      case ring_call::action::follow:
        return follow(call, out_fd, stop);
    }
  } catch (const std::exception& error) {
    tell(error.what());
  }
  return 1;
}

void add_ring_command(CLI::App& app, int& exit_status) {
  CLI::App* const ring = app.add_subcommand("ring", "reads an mmap ring file, of a living or a dead process: whole lines, oldest first");
  ring->require_subcommand(1);
  const auto call = std::make_shared<ring_call>();
  const auto line_count = std::make_shared<std::string>("10");

  const auto add = [&](const char* name, const char* text, ring_call::action what) {
    CLI::App* const command = ring->add_subcommand(name, text);
    command->add_option("FILE", call->file, "the path of an mmap_ring sink")->required();
    command->callback([call, line_count, what, &exit_status] {
      call->what = what;
      call->lines = *line_count == "all" ? std::nullopt : std::optional<std::size_t>(std::stoull(*line_count));
      exit_status = run_ring_command(*call, STDOUT_FILENO);
    });
    return command;
  };
  add("cat", "writes all whole lines to standard output, byte for byte", ring_call::action::cat);
  add("info", "tells size, use, sequence numbers, times and the writer", ring_call::action::info);
  CLI::App* const follow =
      add("follow", "shows the last lines, then each new one as it comes, over restarts of the writer", ring_call::action::follow);
  follow->add_option("-n,--lines", *line_count, "lines to show first: a number, or \"all\"")
      ->default_str("10")
      ->check(CLI::Validator(
          [](const std::string& value) {
            const bool number = !value.empty() && value.size() < 19 && value.find_first_not_of("0123456789") == std::string::npos;
            return number || value == "all" ? std::string() : "'" + value + "' is neither a number nor \"all\"";
          },
          "NUMBER or all"));
}

}  // namespace penstock::cli
