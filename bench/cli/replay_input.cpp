// SPDX-License-Identifier: MIT
#include "bench/cli/replay_input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <penstock/base/error.hpp>

#include "lib/os/file.hpp"

namespace penstock::cli {
namespace {

/// From here on a file is mapped: below, a copy costs less than anyone notices and cannot be truncated under us.
constexpr std::size_t mapped_bytes_min = std::size_t{64} << 20;
constexpr std::size_t read_step_bytes = std::size_t{1} << 20;
constexpr std::size_t shown_bytes_max = 60;

[[noreturn]] void refuse(const std::filesystem::path& file, int os_error) {
  throw config_error("cannot read the log file " + file.string() + ": " + std::generic_category().message(os_error));
}

}  // namespace

log_file::log_file(std::filesystem::path path) : path_(std::move(path)) {
  const os::descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (!file.valid()) refuse(path_, errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) refuse(path_, errno);
  if (S_ISDIR(facts.st_mode)) throw config_error("cannot read the log file " + path_.string() + ": it is a folder; name the files in it");
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  if (S_ISREG(facts.st_mode) && bytes >= mapped_bytes_min)
    map(file.get(), bytes);
  else
    read(file.get());
  count();
}

log_file::~log_file() {
  guard_.reset();
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
}

void log_file::map(int fd, std::size_t bytes) {
  void* const address = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) refuse(path_, errno);
  mapped_ = {static_cast<std::byte*>(address), bytes};
  guard_.emplace(mapped_);
  ::madvise(address, bytes, MADV_SEQUENTIAL);
  text_ = {static_cast<const char*>(address), bytes};
}

void log_file::read(int fd) {
  std::size_t used_bytes = 0;
  for (;;) {
    read_.resize(used_bytes + read_step_bytes);
    const ssize_t got = ::read(fd, read_.data() + used_bytes, read_step_bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path_, errno);
    if (got == 0) break;
    used_bytes += static_cast<std::size_t>(got);
  }
  read_.resize(used_bytes);
  text_ = read_;
}

void log_file::count() {
  os::let_sigbus_through();
  for (std::string_view rest = text_; !rest.empty(); ++line_count_)
    longest_line_bytes_ = std::max(longest_line_bytes_, take_line(rest).size());
  newline_missing_ = !text_.empty() && text_.back() != '\n';
}

std::string shown(std::string_view line) {
  std::string out = "\"";
  for (const char c : line.substr(0, shown_bytes_max)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x7F)
      out += fmt::format("\\x{:02X}", byte);
    else
      out += c;
  }
  return out + (line.size() > shown_bytes_max ? fmt::format("…\" ({} bytes)", line.size()) : "\"");
}

}  // namespace penstock::cli
