// SPDX-License-Identifier: MIT
// The unit in which memory and files are divided here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::os {

/// The smallest page of every Linux that this runs on, and a multiple of what O_DIRECT asks for on the file systems we know. What the
/// kernel maps may come in larger ones: system_page_bytes() of mapping.hpp.
inline constexpr std::size_t page_bytes = 4096;

/// Of x86-64, and of aarch64 with pages of 4 KiB.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

constexpr std::size_t round_up_to_huge_pages(std::size_t bytes) noexcept {
  return (bytes + huge_page_bytes - 1) / huge_page_bytes * huge_page_bytes;
}

constexpr std::size_t page_phase(std::uint64_t file_offset) noexcept { return static_cast<std::size_t>(file_offset % page_bytes); }
constexpr std::size_t round_up_to_pages(std::size_t bytes) noexcept { return (bytes + page_bytes - 1) / page_bytes * page_bytes; }

}  // namespace penstock::os
