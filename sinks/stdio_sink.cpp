// SPDX-License-Identifier: MIT
// `stdio`: appends by fwrite(3), for places where nothing else is wanted. The stream has no buffer of its own: the batch is the buffer, so
// that neither a signal nor a full disk makes libc throw buffered bytes away (seen: six whole buffers lost to six interrupted flushes, with
// a flush and a close that both said 0).
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "sinks/factory.hpp"
#include "sinks/file_sink.hpp"

namespace penstock::sinks {
namespace {

class stdio_sink final : public file_sink {
 public:
  explicit stdio_sink(const sink_config& settings)
      : file_sink(settings, {.cut_at = cut::pages, .open = {.flags = O_WRONLY | O_APPEND, .regular_only = true, .lock = true}}) {
    if (const outcome result = adopt(open_file()); !result.ok())
      throw std::system_error(result.os_error, std::generic_category(), "cannot make a stream for '" + path().string() + "'");
  }
  ~stdio_sink() override { close_stream(); }

  std::unique_ptr<sink> retire() noexcept override {
    close_stream();
    if (!os::share_for_appending(fd()).ok()) return nullptr;
    const bool open_line = mid_line();
    return make_line_sink({.owned = take_file(), .kind = "stdio", .memory = take_memory(), .mid_line = open_line});
  }

  void disown_after_fork() noexcept override {
    close_stream();
    file_sink::disown_after_fork();
  }

  sink_description describe() const override { return {"stdio", {}}; }

 private:
  outcome adopt(os::descriptor fresh) noexcept override {
    os::descriptor for_stream(::fcntl(fresh.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    if (!for_stream.valid()) return {errc::io, errno};
    std::FILE* const stream = ::fdopen(for_stream.get(), "a");
    if (stream == nullptr) return {errc::io, errno};
    static_cast<void>(for_stream.release());
    std::setvbuf(stream, nullptr, _IONBF, 0);
    close_stream();
    stream_ = stream;
    replace_file(std::move(fresh));
    return {};
  }

  void close_stream() noexcept {
    if (stream_ != nullptr) std::fclose(std::exchange(stream_, nullptr));
  }

  os::write_result put(std::span<const std::byte> data) noexcept override {
    os::write_result result;
    while (result.done_bytes < data.size()) {
      errno = 0;
      // Items of one byte, so that the count is one of bytes whatever happens in the middle.
      const std::size_t count = ::fwrite_unlocked(data.data() + result.done_bytes, 1, data.size() - result.done_bytes, stream_);
      const int os_error = errno;
      result.done_bytes += count;
      if (::ferror_unlocked(stream_) == 0 && count > 0) continue;
      ::clearerr_unlocked(stream_);
      if (os_error == EINTR) continue;
      if (result.done_bytes == data.size()) break;
      result.result = os::outcome_of(os_error == 0 ? EIO : os_error);
      break;
    }
    end_bytes_ += result.done_bytes;
    return result;
  }

  std::FILE* stream_ = nullptr;
};

}  // namespace

std::unique_ptr<sink> make_stdio_sink(const sink_config& settings) { return std::make_unique<stdio_sink>(settings); }

}  // namespace penstock::sinks
