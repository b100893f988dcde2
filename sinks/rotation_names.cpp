// SPDX-License-Identifier: MIT
#include "sinks/rotation_names.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace penstock::sinks {
namespace {

constexpr unsigned index_max = 9999;
constexpr std::string_view shape = ".########T######Z-####";

/// The number that `count` digits from `at` on say. They are digits: the shape was looked at.
constexpr unsigned number_at(std::string_view text, std::size_t at, std::size_t count) noexcept {
  unsigned number = 0;
  for (const char digit : text.substr(at, count)) number = number * 10 + static_cast<unsigned>(digit - '0');
  return number;
}

constexpr bool has_shape(std::string_view text) noexcept {
  if (text.size() < shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '#' ? !digit : text[i] != shape[i]) return false;
  }
  return true;
}

}  // namespace

rotated_name rotated_name::next(std::chrono::system_clock::time_point now) const noexcept {
  const std::int64_t now_second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  // If the clock was set back, or a second is full, names run ahead of it rather than out of order.
  if (now_second > second) return {now_second, 0};
  return index < index_max ? rotated_name{second, index + 1} : rotated_name{second + 1, 0};
}

std::string rotated_name::suffix() const {
  using namespace std::chrono;
  const sys_seconds at{seconds(second)};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), ".%04d%02u%02uT%02d%02d%02dZ-%04u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()), index);
  return text.data();
}

std::optional<parsed_name> parse_rotated_name(std::string_view base, std::string_view file) noexcept {
  using namespace std::chrono;
  if (!file.starts_with(base) || !has_shape(file.substr(base.size()))) return std::nullopt;
  const std::string_view text = file.substr(base.size());
  const std::string_view rest = text.substr(shape.size());
  parsed_name parsed;
  if (rest == compressed_suffix)
    parsed.is = parsed_name::form::compressed;
  else if (rest == unfinished_suffix)
    parsed.is = parsed_name::form::unfinished;
  else if (!rest.empty())
    return std::nullopt;
  const year_month_day date{year(static_cast<int>(number_at(text, 1, 4))), month(number_at(text, 5, 2)), day(number_at(text, 7, 2))};
  const unsigned hour = number_at(text, 10, 2);
  const unsigned minute = number_at(text, 12, 2);
  const unsigned second = number_at(text, 14, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const sys_seconds at = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
  parsed.name = {at.time_since_epoch().count(), number_at(text, 18, 4)};
  return parsed;
}

std::vector<closed_file> list_closed_files(const std::filesystem::path& folder, std::string_view base) {
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (open == nullptr)
    throw std::filesystem::filesystem_error("cannot list the closed log files", folder, std::error_code(errno, std::generic_category()));
  std::vector<closed_file> found;
  while (const dirent* const entry = ::readdir(open.get())) {
    const auto parsed = parse_rotated_name(base, entry->d_name);
    struct stat facts {};
    if (!parsed || ::fstatat(::dirfd(open.get()), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(facts.st_mode)) continue;
    found.push_back({*parsed, static_cast<std::uint64_t>(facts.st_size), entry->d_name});
  }
  std::sort(found.begin(), found.end(), [](const closed_file& a, const closed_file& b) { return a.file < b.file; });
  return found;
}

}  // namespace penstock::sinks
