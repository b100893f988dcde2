// SPDX-License-Identifier: MIT
// `pwrite`: writes a file that it owns, at an offset that it keeps. That allows blocks to be asked for ahead, and page_cache = "direct":
// full pages by O_DIRECT, the pieces before and after them through the page cache, byte for byte. Nothing is padded and nothing rewritten,
// so a reader sees the text and only the text at any time.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "sinks/cache_dropper.hpp"
#include "sinks/factory.hpp"
#include "sinks/file_sink.hpp"
#include "sinks/preallocation.hpp"

namespace penstock::sinks {
namespace {

class pwrite_sink final : public file_sink {
 public:
  explicit pwrite_sink(const sink_config& settings);
  ~pwrite_sink() override {
    if (fd() >= 0) ahead_.trim(fd());
  }

  std::unique_ptr<sink> retire() noexcept override;
  outcome sync() noexcept override {
    const outcome result = file_sink::sync();
    return result.ok() ? dropper_.take_error() : result;
  }
  sink_description describe() const override { return {"pwrite", fallback_}; }

 private:
  outcome adopt(os::descriptor fresh) noexcept override;
  os::write_result put(std::span<const std::byte> data) noexcept override;
  os::write_result put_dropping(std::span<const std::byte> data) noexcept;
  os::write_result put_direct(std::span<const std::byte> data) noexcept;
  os::write_result put_around_direct(std::span<const std::byte> data, std::uint64_t offset) noexcept;
  void follow_truncation() noexcept;
  bool set_direct(bool on) noexcept;

  page_cache_policy policy_;
  preallocation ahead_;
  cache_dropper dropper_;
  std::string fallback_;
};

pwrite_sink::pwrite_sink(const sink_config& settings)
    : file_sink(settings, {.cut_at = cut::pages, .open = {.flags = O_WRONLY, .regular_only = true, .lock = true}}),
      policy_(settings.page_cache) {
  if (const outcome result = adopt(open_file()); !result.ok())
    throw std::system_error(
        result.os_error, std::generic_category(),
        "cannot use '" + path().string() + "' (it is open for appending, where Linux ignores offsets: use type = \"write\")");
}

outcome pwrite_sink::adopt(os::descriptor fresh) noexcept {
  const int flags = ::fcntl(fresh.get(), F_GETFL);
  if (flags < 0 || (flags & O_APPEND) != 0) return {errc::io, flags < 0 ? errno : EINVAL};
  struct stat facts {};
  if (os::calls().fstat(fresh.get(), &facts) != 0) return {errc::io, errno};
  if (fd() >= 0) ahead_.trim(fd());
  replace_file(std::move(fresh));
  constexpr blkcnt_t block_bytes = 512;  // of st_blocks, whatever the file system (man 3type stat)
  ahead_.start_at(end_bytes_, facts.st_blocks * block_bytes > facts.st_size + static_cast<off_t>(os::page_bytes));
  dropper_.start_at(end_bytes_);
  if (policy_ == page_cache_policy::direct && !set_direct(true)) {
    policy_ = page_cache_policy::keep;
    fallback_ = "this file system refuses O_DIRECT: written through the page cache";
  }
  return {};
}

bool pwrite_sink::set_direct(bool on) noexcept {
  const int flags = ::fcntl(fd(), F_GETFL);
  return flags >= 0 && ::fcntl(fd(), F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

void pwrite_sink::follow_truncation() noexcept {
  const std::int64_t size_bytes = os::file_end(fd());
  if (size_bytes < 0 || static_cast<std::uint64_t>(size_bytes) >= end_bytes_) return;
  // Somebody truncated the file (logrotate's copytruncate): writing on at the old offset would leave NULs in front.
  end_bytes_ = static_cast<std::uint64_t>(size_bytes);
  ahead_.start_at(end_bytes_, false);
  dropper_.start_at(end_bytes_);
}

os::write_result pwrite_sink::put(std::span<const std::byte> data) noexcept {
  follow_truncation();
  ahead_.ahead_of(fd(), end_bytes_, data.size());
  os::write_result result;
  switch (policy_) {
    case page_cache_policy::keep:
      result = os::write_all_at(fd(), data, end_bytes_);
      break;
    case page_cache_policy::drop:
      result = put_dropping(data);
      break;
    case page_cache_policy::direct:
      result = put_direct(data);
      break;
  }
  end_bytes_ += result.done_bytes;
  if (policy_ == page_cache_policy::drop) dropper_.written_up_to(fd(), end_bytes_);
  return result;
}

os::write_result pwrite_sink::put_dropping(std::span<const std::byte> data) noexcept {
  const os::write_result result = os::write_all_at(fd(), data, end_bytes_, dropper_.flags());
  if (result.result.ok() || !dropper_.refused(result.result)) return result;
  const os::write_result rest = os::write_all_at(fd(), data.subspan(result.done_bytes), end_bytes_ + result.done_bytes);
  return {result.done_bytes + rest.done_bytes, rest.result};
}

os::write_result pwrite_sink::put_around_direct(std::span<const std::byte> data, std::uint64_t offset) noexcept {
  if (data.empty()) return {};
  set_direct(false);
  const os::write_result result = os::write_all_at(fd(), data, offset);
  set_direct(true);
  return result;
}

os::write_result pwrite_sink::put_direct(std::span<const std::byte> data) noexcept {
  const std::size_t phase = os::page_phase(end_bytes_);
  // Memory and file differ in phase only after a truncation or a short count at an odd byte; the next batch is in phase again.
  if (os::page_phase(reinterpret_cast<std::uintptr_t>(data.data())) != phase) return put_around_direct(data, end_bytes_);

  const std::size_t head_bytes = std::min(data.size(), (os::page_bytes - phase) % os::page_bytes);
  os::write_result result = put_around_direct(data.first(head_bytes), end_bytes_);
  if (!result.result.ok()) return result;

  const std::size_t middle_bytes = (data.size() - head_bytes) / os::page_bytes * os::page_bytes;
  const os::write_result middle = os::write_all_at(fd(), data.subspan(head_bytes, middle_bytes), end_bytes_ + head_bytes);
  result.done_bytes += middle.done_bytes;
  const bool alignment_refused = middle.result.os_error == EINVAL;
  if (!middle.result.ok() && !alignment_refused) return {result.done_bytes, middle.result};
  // EINVAL after a short count is about the odd rest; EINVAL at once says that this file wants another alignment, or no O_DIRECT at all.
  const bool direct_refused = alignment_refused && middle.done_bytes == 0;

  const os::write_result tail = put_around_direct(data.subspan(result.done_bytes), end_bytes_ + result.done_bytes);
  if (direct_refused) {
    set_direct(false);
    policy_ = page_cache_policy::keep;
    fallback_ = "this file refuses O_DIRECT writes of whole pages (EINVAL): written through the page cache";
  }
  return {result.done_bytes + tail.done_bytes, tail.result};
}

std::unique_ptr<sink> pwrite_sink::retire() noexcept {
  ahead_.trim(fd());
  if (!os::share_for_appending(fd()).ok()) return nullptr;
  const bool open_line = mid_line();
  return make_line_sink({.owned = take_file(), .kind = "pwrite", .memory = take_memory(), .mid_line = open_line});
}

}  // namespace

std::unique_ptr<sink> make_pwrite_sink(const sink_config& settings) { return std::make_unique<pwrite_sink>(settings); }

}  // namespace penstock::sinks
