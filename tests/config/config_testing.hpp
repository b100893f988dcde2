// SPDX-License-Identifier: MIT
// What the tests of the configuration share.
#pragma once

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <penstock/config.hpp>

namespace penstock::testing_config {

/// The message with which a text is refused, or an empty one.
inline std::string refusal(std::string_view toml) {
  try {
    static_cast<void>(parse_config(toml, "app.toml"));
  } catch (const config_error& error) {
    return error.what();
  }
  return {};
}

/// As refusal(), for a write sink with these lines. They begin at line 4.
inline std::string sink_refusal(std::string_view lines, std::string_view type = "write") {
  return refusal("[sinks.app]\ntype = \"" + std::string{type} + "\"\npath = \"a.log\"\n" + std::string{lines} + "\n");
}

/// The message with which a configuration that was filled in by hand is refused.
inline std::string refusal(const config& settings) {
  try {
    validate(settings);
  } catch (const config_error& error) {
    return error.what();
  }
  return {};
}

/// A folder that is gone with the test.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "penstock-config-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::filesystem::path& path() const noexcept { return path_; }

  std::filesystem::path write(std::string_view name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream{file, std::ios::binary} << text;
    return file;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace penstock::testing_config
