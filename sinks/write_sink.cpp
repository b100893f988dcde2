// SPDX-License-Identifier: MIT
// `write`: appends whole lines by write(2). The file may be shared, with other processes or with logrotate's copytruncate, so nothing here
// relies on where it ends; and it may be a pipe, a terminal or a device.
#include <unistd.h>

#include <stdexcept>

#include "sinks/cache_dropper.hpp"
#include "sinks/factory.hpp"
#include "sinks/file_sink.hpp"

namespace penstock::sinks {
namespace {

class write_sink final : public file_sink {
 public:
  explicit write_sink(const sink_config& settings) : file_sink(settings, {.cut_at = cut::lines, .open = {.flags = O_WRONLY | O_APPEND}}) {
    static_cast<void>(adopt(open_file()));
  }

  std::unique_ptr<sink> retire() noexcept override {
    const bool open_line = mid_line();
    return make_line_sink({.owned = take_file(), .kind = "write", .memory = take_memory(), .mid_line = open_line});
  }

  outcome sync() noexcept override {
    const outcome result = file_sink::sync();
    return result.ok() ? dropper_.take_error() : result;
  }

  sink_description describe() const override { return {"write", {}}; }

 private:
  outcome adopt(os::descriptor fresh) noexcept override {
    replace_file(std::move(fresh));
    dropper_.start_at(end_bytes_);
    return {};
  }

  os::write_result put(std::span<const std::byte> data) noexcept override {
    if (settings().page_cache == page_cache_policy::keep) {
      const os::write_result result = os::write_all(fd(), data);
      end_bytes_ += result.done_bytes;
      return result;
    }
    os::write_result result = os::write_all(fd(), data, dropper_.flags());
    if (!result.result.ok() && dropper_.refused(result.result)) {
      const os::write_result rest = os::write_all(fd(), data.subspan(result.done_bytes));
      result = {result.done_bytes + rest.done_bytes, rest.result};
    }
    end_bytes_ += result.done_bytes;
    // The position after an append is where this write really ended; others may have appended before it.
    if (regular())
      if (const off_t position = ::lseek(fd(), 0, SEEK_CUR); position > 0)
        dropper_.written_up_to(fd(), static_cast<std::uint64_t>(position));
    return result;
  }

  cache_dropper dropper_;
};

}  // namespace

std::unique_ptr<sink> make_write_sink(const sink_config& settings) {
  if (settings.page_cache == page_cache_policy::direct)
    throw config_error(
        "type = \"write\" cannot use page_cache = \"direct\", since appends of lines are not whole pages: use type = \"pwrite\"");
  return std::make_unique<write_sink>(settings);
}

}  // namespace penstock::sinks
