// SPDX-License-Identifier: MIT
#include "bench/suites/raw_io.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "bench/suites/checksum.hpp"

namespace penstock::bench {

void fail(const std::string& what, const std::filesystem::path& file) {
  throw std::system_error(errno, std::generic_category(), what + " " + file.string());
}

int open_flags(file_policy policy) noexcept {
  switch (policy) {
    case file_policy::new_file:
      return O_CREAT | O_EXCL;
    case file_policy::truncate:
      return O_TRUNC;
    case file_policy::in_place:
      return 0;
  }
  return 0;
}

os::descriptor open_target(const pass& the_pass, int access) {
  os::descriptor fd(::open(the_pass.target.c_str(), access | open_flags(the_pass.file) | O_CLOEXEC, 0640));
  if (!fd.valid()) fail("cannot open", the_pass.target);
  return fd;
}

os::descriptor open_source(const std::filesystem::path& file) {
  os::descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) fail("cannot open", file);
  return fd;
}

void put(int fd, std::span<const std::byte> data) {
  const os::write_result result = os::write_all(fd, data);
  if (!result.result.ok()) throw std::system_error(result.result.os_error, std::generic_category(), "write");
}

void put_at(int fd, std::span<const std::byte> data, std::uint64_t offset) {
  const os::write_result result = os::write_all_at(fd, data, offset);
  if (!result.result.ok()) throw std::system_error(result.result.os_error, std::generic_category(), "pwrite");
}

std::size_t get(int fd, std::span<std::byte> room) {
  std::size_t done = 0;
  while (done < room.size()) {
    const ssize_t n = ::read(fd, room.data() + done, room.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw std::system_error(errno, std::generic_category(), "read");
    if (n == 0) break;
    done += static_cast<std::size_t>(n);
  }
  return done;
}

buffer::buffer(std::size_t bytes) : memory_(new (std::align_val_t{4096}) std::byte[bytes]), bytes_(bytes) {
  std::memset(memory_.get(), 0, bytes);
}

mapping::mapping(int fd, std::size_t bytes, int protection, int flags, std::uint64_t offset) : bytes_(bytes) {
  void* memory = ::mmap(nullptr, bytes, protection, MAP_SHARED | flags, fd, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  memory_ = static_cast<std::byte*>(memory);
}

void mapping::unmap() noexcept {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
  memory_ = nullptr;
}

void make_file(const std::filesystem::path& file, std::uint64_t bytes,
               const std::function<std::span<const std::byte>(std::uint64_t, std::size_t)>& block) {
  os::descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
  if (!fd.valid()) fail("cannot make", file);
  for (std::uint64_t offset = 0; offset < bytes;) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(std::uint64_t{256} << 10, bytes - offset));
    put(fd.get(), block(offset, n));
    offset += n;
  }
}

void drop_from_cache(const std::filesystem::path& file) {
  const os::descriptor fd = open_source(file);
  if (::fdatasync(fd.get()) != 0) fail("fdatasync", file);
  if (const int error = ::posix_fadvise(fd.get(), 0, 0, POSIX_FADV_DONTNEED); error != 0) {
    errno = error;
    fail("posix_fadvise", file);
  }
}

digest digest_of_file(const std::filesystem::path& file) {
  const os::descriptor fd = open_source(file);
  static buffer room(std::size_t{256} << 10);
  checksum sum;
  for (std::size_t n; (n = get(fd.get(), room.span())) != 0;) sum.add(room.span().first(n));
  return sum.result();
}

}  // namespace penstock::bench
