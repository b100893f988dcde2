// SPDX-License-Identifier: MIT
// A folder of its own for each test, gone with it; and the two things that tests do with files.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace penstock::testing {

class temp_folder {
 public:
  /// `base`: where it is made; by default where the tests run, which is a disk more often than the folder for temporary files.
  explicit temp_folder(const std::filesystem::path& base = std::filesystem::current_path()) {
    std::string name = (base / "penstock_test_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~temp_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  temp_folder(const temp_folder&) = delete;
  temp_folder& operator=(const temp_folder&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  if (!in) return {};
  std::string text(static_cast<std::size_t>(in.tellg()), '\0');
  in.seekg(0);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

inline void write_text(const std::filesystem::path& file, std::string_view text) { std::ofstream(file, std::ios::binary) << text; }

}  // namespace penstock::testing
