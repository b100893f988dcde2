// SPDX-License-Identifier: MIT
#include "bench/suites/pass.hpp"

namespace penstock::bench {

std::string_view text(file_policy policy) noexcept {
  switch (policy) {
    case file_policy::new_file:
      return "new";
    case file_policy::truncate:
      return "truncate";
    case file_policy::in_place:
      return "in-place";
  }
  return "?";
}

std::string_view text(sync_mode mode) noexcept { return mode == sync_mode::none ? "none" : "fdatasync"; }

std::string_view text(cache_mode mode) noexcept { return mode == cache_mode::warm ? "warm" : "drop-source"; }

std::string_view text(clock_kind clock) noexcept {
  switch (clock) {
    case clock_kind::setup:
      return "setup";
    case clock_kind::ret:
      return "return";
    case clock_kind::close:
      return "close";
    case clock_kind::sync:
      return "sync";
  }
  return "?";
}

std::optional<std::chrono::nanoseconds> pass::reading(clock_kind which) const noexcept {
  static constexpr clock::time_point unset{};
  const auto since = [](clock::time_point from, clock::time_point to) -> std::optional<std::chrono::nanoseconds> {
    if (from == unset || to == unset) return std::nullopt;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(to - from);
  };
  switch (which) {
    case clock_kind::setup:
      return since(begin_, started_);
    case clock_kind::ret:
      return since(started_, returned_);
    case clock_kind::close:
      return since(started_, closed_);
    case clock_kind::sync:
      return since(started_, synced_);
  }
  return std::nullopt;
}

}  // namespace penstock::bench
