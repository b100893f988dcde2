// SPDX-License-Identifier: MIT
// `console`: whole lines to standard error, since standard output belongs to what the program says; or to `path`, which is opened as
// `write` does it. Standard error is used in place, not duplicated: where the program sends it later, the log goes too.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "sinks/factory.hpp"
#include "sinks/file_sink.hpp"

namespace penstock::sinks {
namespace {

constexpr cut console_cut = cut::lines;

class console_sink final : public batch_sink {
 public:
  explicit console_sink(std::size_t batch_bytes) : batch_sink(batch_bytes, console_cut), was_open_(::fcntl(STDERR_FILENO, F_GETFD) >= 0) {}

  outcome sync() noexcept override {
    if (const outcome flushed = flush(); !flushed.ok()) return flushed;
    return was_open_ ? os::sync_data(STDERR_FILENO) : outcome{errc::unsupported, EBADF};
  }
  outcome reopen() noexcept override { return {}; }

  std::unique_ptr<sink> retire() noexcept override {
    if (!was_open_) return nullptr;
    const bool open_line = mid_line();
    return make_line_sink({.borrowed_fd = STDERR_FILENO, .kind = "console", .memory = take_memory(), .mid_line = open_line});
  }

  sink_description describe() const override { return {"console", {}}; }

 private:
  os::write_result put(std::span<const std::byte> data) noexcept override {
    // Closed when we started: the number 2 may be any file of the program by now.
    if (!was_open_) return {0, {errc::closed, EBADF}};
    return os::write_all(STDERR_FILENO, data);
  }

  bool was_open_;
};

class console_file_sink final : public file_sink {
 public:
  explicit console_file_sink(const sink_config& settings)
      : file_sink(settings, {.cut_at = console_cut, .open = {.flags = O_WRONLY | O_APPEND}}) {
    static_cast<void>(adopt(open_file()));
  }

  std::unique_ptr<sink> retire() noexcept override {
    const bool open_line = mid_line();
    return make_line_sink({.owned = take_file(), .kind = "console", .memory = take_memory(), .mid_line = open_line});
  }

  sink_description describe() const override { return {"console", {}}; }

 private:
  outcome adopt(os::descriptor fresh) noexcept override {
    replace_file(std::move(fresh));
    return {};
  }
  os::write_result put(std::span<const std::byte> data) noexcept override {
    const os::write_result result = os::write_all(fd(), data);
    end_bytes_ += result.done_bytes;
    return result;
  }
};

std::string_view environment(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

}  // namespace

bool console_wants_colour(int fd) noexcept {
  if (!environment("NO_COLOR").empty()) return false;
  const std::string_view terminal = environment("TERM");
  return !terminal.empty() && terminal != "dumb" && ::isatty(fd) == 1;
}

std::unique_ptr<sink> make_console_sink(const sink_config& settings) {
  if (!settings.path.empty()) return std::make_unique<console_file_sink>(settings);
  return std::make_unique<console_sink>(effective_batch_bytes(settings));
}

}  // namespace penstock::sinks
