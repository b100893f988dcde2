// SPDX-License-Identifier: MIT
// A log that rotates at 4 KiB in a folder of its own, the files that it left, and a backend that has a time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <penstock/sink.hpp>

#include "sinks/rotation_names.hpp"
#include "tests/support/file_attributes.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::sinks {

inline std::chrono::system_clock::time_point at(std::int64_t second) {
  return std::chrono::system_clock::time_point(std::chrono::seconds(second));
}

/// The closed files of a log in the order of their names, then the live one, if it is there.
inline std::vector<std::filesystem::path> files_of(const std::filesystem::path& path) {
  std::vector<std::filesystem::path> files;
  for (const closed_file& each : list_closed_files(path.parent_path(), path.filename().string()))
    files.push_back(path.parent_path() / each.file);
  if (std::filesystem::exists(path)) files.push_back(path);
  return files;
}

/// chattr +i and -i. False: not here.
inline bool make_immutable(const std::filesystem::path& path, bool on) {
  return penstock::testing::change_attribute(path, FS_IMMUTABLE_FL, on);
}

class rotation_testing {
 protected:
  ~rotation_testing() { make_immutable(folder.path(), false); }

  sink_config settings() {
    sink_config made;
    made.path = path;
    made.batch_size = 16384;
    made.rotate.size = 4096;
    return made;
  }
  std::vector<std::size_t> sizes() {
    std::vector<std::size_t> all;
    for (const auto& file : files_of(path)) all.push_back(static_cast<std::size_t>(std::filesystem::file_size(file)));
    return all;
  }
  std::vector<std::string> texts() {
    std::vector<std::string> all;
    for (const auto& file : files_of(path)) all.push_back(penstock::testing::text_of(file));
    return all;
  }
  std::string all_text() {
    std::string all;
    for (const std::string& text : texts()) all += text;
    return all;
  }

  penstock::testing::temp_folder folder;
  std::filesystem::path path = folder / "log";
};

/// Fills batches by the rules of lib/backend/output.hpp, at a time that the test sets, and waits for what is on its way.
class timed_backend {
 public:
  explicit timed_backend(sink& target) : target_(target) {}

  bool line(std::string_view text) {
    if (used_ != 0 && now >= room_.until && !submit()) return false;
    if (used_ != 0 && room_.end == cut::lines && text.size() > room_.room.size() - used_ && !submit()) return false;
    if (used_ == 0 && !lend(text.size())) return false;
    while (!text.empty()) {
      if (used_ == room_.room.size() && (!submit() || !lend(text.size()))) return false;
      const std::size_t bytes = std::min(room_.room.size() - used_, text.size());
      std::memcpy(room_.room.data() + used_, text.data(), bytes);
      used_ += bytes;
      text.remove_prefix(bytes);
    }
    return used_ < room_.room.size() || submit();
  }
  bool line_now(std::string_view text) { return line(text) && flush(); }

  /// Everything is with the kernel.
  bool flush() {
    if (used_ != 0 && !submit()) return false;
    outcome result;
    const bool known = penstock::testing::eventually([&] { return (result = target_.flush()).code != errc::pending; }, {});
    return known && result.ok();
  }

  std::chrono::system_clock::time_point now = at(1'796'000'000);

 private:
  bool submit() {
    room_ = {};
    return target_.submit(std::exchange(used_, std::size_t{0})).ok();
  }
  bool lend(std::size_t line_bytes) {
    bool failed = false;
    const bool ended = penstock::testing::eventually(
        [&] {
          room_ = target_.lend({.line_bytes = line_bytes, .line_time = now});
          if (!room_.room.empty()) return true;
          const outcome result = target_.flush();
          failed = !result.ok() && result.code != errc::pending;
          return failed;
        },
        {});
    return ended && !failed;
  }

  sink& target_;
  batch room_{};
  std::size_t used_ = 0;
};

}  // namespace penstock::sinks
