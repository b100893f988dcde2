// SPDX-License-Identifier: MIT
// Plain files for the cases: the system calls that the posts' classes make, without anything in between.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <span>
#include <string>

#include "bench/suites/pass.hpp"
#include "lib/os/file.hpp"

namespace penstock::bench {

/// Throws std::system_error of errno: "what PATH: reason".
[[noreturn]] void fail(const std::string& what, const std::filesystem::path& file);

/// The open(2) flags that make the target what the policy says.
int open_flags(file_policy policy) noexcept;

/// Opens the target of a pass by its policy; `access` is O_WRONLY or O_RDWR.
os::descriptor open_target(const pass& the_pass, int access = O_WRONLY);
os::descriptor open_source(const std::filesystem::path& file);

/// Writes all of it, or throws.
void put(int fd, std::span<const std::byte> data);
void put_at(int fd, std::span<const std::byte> data, std::uint64_t offset);
/// Reads until the room is full or the file ends; returns how much.
std::size_t get(int fd, std::span<std::byte> room);

/// Page-aligned memory, touched, so that the first use does not pay for it.
class buffer {
 public:
  explicit buffer(std::size_t bytes);

  std::span<std::byte> span() noexcept { return {memory_.get(), bytes_}; }
  std::byte* data() noexcept { return memory_.get(); }
  std::size_t size() const noexcept { return bytes_; }

 private:
  struct aligned_delete {
    void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{4096}); }
  };
  std::unique_ptr<std::byte[], aligned_delete> memory_;
  std::size_t bytes_;
};

/// A shared mapping of a whole file, gone with this.
class mapping {
 public:
  mapping(int fd, std::size_t bytes, int protection, int flags = 0, std::uint64_t offset = 0);
  ~mapping() { unmap(); }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;

  std::span<std::byte> span() noexcept { return {memory_, bytes_}; }
  void unmap() noexcept;

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Makes a file by writing blocks of `content` (or another filler), outside any clock.
void make_file(const std::filesystem::path& file, std::uint64_t bytes,
               const std::function<std::span<const std::byte>(std::uint64_t, std::size_t)>& block);

/// Writes back and drops a file's pages from the page cache. Has no effect on tmpfs.
void drop_from_cache(const std::filesystem::path& file);

}  // namespace penstock::bench
