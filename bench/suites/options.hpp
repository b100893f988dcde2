// SPDX-License-Identifier: MIT
// What the user of `penstock bench` chooses. Policies hold for a whole run and stand in the heading of every table: rows of different
// policies are never mixed.
#pragma once

#include <filesystem>
#include <string_view>

namespace penstock::bench {

/// What the target file is when a pass begins: absent, present with other content and truncated by the open, or present and overwritten.
enum class file_policy { new_file, truncate, in_place };
/// Whether fdatasync(2) is measured, as a clock of its own.
enum class sync_mode { none, fdatasync };
/// Whether the source of a read or a copy is in the page cache, or dropped from it before each pass.
enum class cache_mode { warm, drop_source };

std::string_view text(file_policy policy) noexcept;
std::string_view text(sync_mode mode) noexcept;
std::string_view text(cache_mode mode) noexcept;

struct options {
  std::filesystem::path dir = ".";
  int repeat = 0;  ///< passes of each cell; 0: at least five, more where a pass is short, three for the 1 GB columns
  file_policy file = file_policy::new_file;
  sync_mode sync = sync_mode::none;
  cache_mode cache = cache_mode::warm;
  bool published = false;
  bool smoke = false;  ///< small sizes: checks the suite, measures nothing of interest
  std::filesystem::path csv{};
  std::filesystem::path json{};
  std::filesystem::path svg{};
};

}  // namespace penstock::bench
