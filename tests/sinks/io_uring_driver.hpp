// SPDX-License-Identifier: MIT
// Drives the io_uring sink as the backend does, and waits for room where the backend would do something else.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <penstock/config.hpp>
#include <penstock/sink.hpp>

#include "sinks/factory.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/temp_folder.hpp"

namespace penstock::testing {

/// Why tests of io_uring cannot run here; empty: they can.
inline std::string io_uring_refusal() {
  static const std::string reason = [] {
    const temp_folder folder;
    sink_config settings;
    settings.type = "io_uring";
    settings.path = folder / "probe";
    return sinks::make_io_uring_sink(settings)->describe().fallback;
  }();
  return reason;
}

class io_uring_driver {
 public:
  explicit io_uring_driver(sink& target) : target_(target) {}

  /// Lays out text, and waits for room. Stops at an error; go_on() goes on with the rest.
  outcome text(std::string_view more) {
    todo_ += more;
    return go_on();
  }

  outcome go_on() {
    while (!todo_.empty()) {
      if (room_.empty()) room_ = target_.lend({}).room;
      if (room_.empty()) {
        if (const outcome result = wait_for_room(); !result.ok()) return result;
        continue;
      }
      const std::size_t now = std::min(room_.size() - used_, todo_.size());
      std::memcpy(room_.data() + used_, todo_.data(), now);
      used_ += now;
      todo_.erase(0, now);
      if (used_ == room_.size())
        if (const outcome result = submit(); !result.ok()) return result;
    }
    return {};
  }

  outcome submit() {
    if (used_ == 0) return {};
    room_ = {};
    submitted_bytes_ += used_;
    return target_.submit(std::exchange(used_, std::size_t{0}));
  }

  /// Submits, and asks until the sink says that all is written, or what is wrong.
  outcome flush() {
    if (const outcome result = submit(); !result.ok()) return result;
    return until_done([this] { return target_.flush(); });
  }
  outcome sync() {
    if (const outcome result = submit(); !result.ok()) return result;
    return until_done([this] { return target_.sync(); });
  }

  std::size_t submitted_bytes() const noexcept { return submitted_bytes_; }

 private:
  template <class Ask>
  outcome until_done(Ask ask) {
    outcome result{errc::pending, 0};
    static_cast<void>(eventually([&] { return (result = ask()).code != errc::pending; }, {}));
    return result;
  }

  outcome wait_for_room() {
    return until_done([this]() -> outcome {
      const outcome result = target_.flush();
      if (result.code != errc::pending) return result;
      room_ = target_.lend({}).room;
      return room_.empty() ? result : outcome{};
    });
  }

  sink& target_;
  std::span<std::byte> room_{};
  std::size_t used_ = 0;
  std::size_t submitted_bytes_ = 0;
  std::string todo_{};
};

}  // namespace penstock::testing
