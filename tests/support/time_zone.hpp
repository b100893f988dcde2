// SPDX-License-Identifier: MIT
// A time zone of the test's own, by rule, so that no zone files are needed and it does not matter where the tests run.
#pragma once

#include <time.h>

#include <cstdlib>
#include <optional>
#include <string>

namespace penstock::testing {

/// Holds for the process while it lives. One at a time.
class time_zone {
 public:
  explicit time_zone(const char* rule) {
    if (const char* const former = ::getenv("TZ")) former_ = former;
    change(rule);
  }
  ~time_zone() { change(former_ ? former_->c_str() : nullptr); }
  time_zone(const time_zone&) = delete;
  time_zone& operator=(const time_zone&) = delete;

  static void change(const char* rule) {
    if (rule != nullptr)
      ::setenv("TZ", rule, 1);
    else
      ::unsetenv("TZ");
    ::tzset();
  }

 private:
  std::optional<std::string> former_;
};

}  // namespace penstock::testing
