// SPDX-License-Identifier: MIT
// When to rotate, and how much room there is until then. How: rotating_switch.cpp.
#include "sinks/rotating_sink.hpp"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "lib/os/pages.hpp"
#include "sinks/rotation_calendar.hpp"

namespace penstock::sinks {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Closed files grow old without anything happening.
constexpr auto age_look_interval = 60s;

/// The path without a link at its end, if links are followed: files change places, never links. What a link leads to need not exist yet.
fs::path real_path(const sink_config& settings) {
  fs::path path = fs::absolute(settings.path);
  std::error_code ignored;
  for (int hops = 0; settings.follow_symlinks && hops < 40 && fs::is_symlink(path, ignored); ++hops)
    path = path.parent_path() / fs::read_symlink(path);
  return path;
}

sink_config inside_settings(sink_config settings, const fs::path& path) {
  settings.path = path;
  settings.rotate = {};
  settings.follow_symlinks = false;
  return settings;
}

}  // namespace

rotating_sink::rotating_sink(const sink_config& settings, maker make)
    : rules_(settings.rotate),
      path_(real_path(settings)),
      mode_(static_cast<mode_t>(settings.mode)),
      shared_(settings.type == "write"),
      inside_(make(inside_settings(settings, path_))),
      taker_(dynamic_cast<next_file_taker*>(inside_.get())),
      closed_(std::make_shared<closed_files>()) {
  struct stat facts {};
  if (os::calls().stat(path_.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
    throw config_error("cannot rotate '" + path_.string() + "', which is not a regular file: leave `rotate` out");
  closed_->folder = path_.parent_path();
  closed_->base = path_.filename().string();
  closed_->rules = rules_;
  remove_traces(*closed_, shared_);
  for (const closed_file& each : list_closed_files(closed_->folder, closed_->base)) last_name_ = std::max(last_name_, each.parsed.name);
  ::tzset();
  follow();
  rotation_helper::add(closed_);
}

rotating_sink::~rotating_sink() {
  inside_.reset();
  guard_.reset();
  if (closed_ != nullptr) rotation_helper::remove(closed_);
}

// Looks at the file that the path leads to now, which is the one that the sink inside has.
void rotating_sink::follow() noexcept {
  if (shared_) static_cast<void>(guard());
  struct stat facts {};
  if (os::calls().stat(path_.c_str(), &facts) == 0) begin(facts);
}

void rotating_sink::begin(const struct stat& facts) noexcept {
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
  size_bytes_ = static_cast<std::uint64_t>(facts.st_size);
  turn_ = moment::max();
  turn_known_ = rules_.every == rotate_period::never;
  if (turn_known_ || size_bytes_ == 0) return;
  // What an earlier run wrote belongs to the period in which it wrote last.
  turn_ = next_turn(moment(std::chrono::seconds(facts.st_mtim.tv_sec)), rules_.every);
  turn_known_ = true;
}

// Counts anew what is in the file: others may have appended to it, or cut it off. False: the path does not lead to it any more.
bool rotating_sink::look() noexcept {
  struct stat facts {};
  if (os::calls().stat(path_.c_str(), &facts) != 0 || facts.st_dev != device_ || facts.st_ino != inode_) return false;
  size_bytes_ = static_cast<std::uint64_t>(facts.st_size);
  return true;
}

rotating_sink::moment rotating_sink::time_of(lend_request request) const noexcept {
  if (rules_.every == rotate_period::never || request.line_time != moment{}) return request.line_time;
  return std::chrono::system_clock::now();
}

bool rotating_sink::is_due(moment now, std::size_t line_bytes) noexcept {
  if (size_bytes_ == 0) {
    // A record that is larger than the limit gets a file of its own, never an empty one in front of it.
    if (turn_known_ && now < turn_) return false;
    turn_ = next_turn(now, rules_.every);
    turn_known_ = true;
    return false;
  }
  if (now >= turn_) return true;
  return rules_.size != 0 && (size_bytes_ >= rules_.size || line_bytes > rules_.size - size_bytes_);
}

// Between two lines: rotates if it is time to. `wait`: what is on its way has to arrive first.
rotating_sink::verdict rotating_sink::make_way(lend_request request) noexcept {
  const moment now = time_of(request);
  bool seen = inside_->in_flight_bytes() == 0 && look();
  if (!is_due(now, request.line_bytes)) {
    retry_at_ = {};
    return verdict::go_on;
  }
  if (steady::now() < retry_at_) return verdict::go_on;
  if (inside_->in_flight_bytes() != 0 || !inside_->flush().ok()) return verdict::wait;
  // Nothing is in it: given back, so that the next one fits the new file.
  if (!room_.empty()) static_cast<void>(inside_->submit(0));
  room_ = {};
  // Twice: if someone else moved the file, the one that is found at its path may be full as well.
  for (int attempt = 0; attempt < 2 && is_due(now, request.line_bytes); ++attempt) {
    const outcome result = std::exchange(seen, false) || look() ? rotate(now) : reopen();
    if (!result.ok() && result.code != errc::pending) failed(result);
    if (!result.ok()) return verdict::go_on;
  }
  if (is_due(now, request.line_bytes)) failed({errc::io, EBUSY});
  return verdict::go_on;
}

batch rotating_sink::lend(lend_request request) noexcept {
  if (switching_)
    static_cast<void>(finish_switch());
  else if (!mid_line_ && make_way(request) == verdict::wait)
    return {{}, cut::lines};
  const batch lent = limited(inside_->lend(request), request);
  room_ = lent.room;
  return lent;
}

batch rotating_sink::limited(batch lent, lend_request request) const noexcept {
  const bool stuck = retry_at_ != steady::time_point{};
  if (rules_.every != rotate_period::never) {
    lent.until = turn_;
    // A rotation that failed is tried again about a second later, at the end of a line.
    if (stuck && turn_ <= time_of(request)) lent.until = time_of(request) + 1s;
  }
  if (rules_.size == 0 || lent.room.empty()) return lent;
  const std::uint64_t left_bytes = rules_.size > size_bytes_ ? rules_.size - size_bytes_ : 0;
  // So early that the rest of a line that is divided between two batches still fits.
  if (stuck || switching_ || left_bytes / 2 < lent.room.size()) lent.end = cut::lines;
  if (stuck || left_bytes >= lent.room.size()) return lent;
  std::uint64_t bytes = left_bytes;
  // A line that has begun is not divided between files, and one that fits into none has one for itself.
  if (mid_line_ || size_bytes_ == 0 || switching_)
    bytes = std::max<std::uint64_t>(bytes, request.line_bytes != 0 ? request.line_bytes : os::page_bytes);
  lent.room = lent.room.first(static_cast<std::size_t>(std::min<std::uint64_t>(bytes, lent.room.size())));
  return lent;
}

outcome rotating_sink::submit(std::size_t used_bytes) noexcept {
  if (used_bytes == 0 || room_.empty()) return inside_->submit(0);
  used_bytes = std::min(used_bytes, room_.size());
  mid_line_ = room_[used_bytes - 1] != std::byte{'\n'};
  size_bytes_ += used_bytes;
  room_ = {};
  const outcome result = inside_->submit(used_bytes);
  if (switching_ && result.ok() && !mid_line_) static_cast<void>(finish_switch());
  return result;
}

std::size_t rotating_sink::abandon() noexcept {
  // The sink inside sees to it that what comes next is a line of its own.
  mid_line_ = false;
  const std::size_t lost_bytes = inside_->abandon();
  static_cast<void>(look());
  return lost_bytes;
}

outcome rotating_sink::reopen() noexcept {
  if (switching_) return finish_switch();
  const outcome result = inside_->reopen();
  if (result.ok() && !look()) follow();
  return result;
}

outcome rotating_sink::maintain() noexcept {
  if (switching_) static_cast<void>(finish_switch());
  const outcome found = inside_->maintain();
  // The sink inside may have followed its path to another file.
  if (found.ok() && !switching_ && inside_->in_flight_bytes() == 0 && !look()) follow();
  if (const auto now = steady::now(); now >= next_age_look_) {
    if (next_age_look_ != steady::time_point{}) rotation_helper::look(*closed_);
    next_age_look_ = now + age_look_interval;
  }
  if (!found.ok()) return found;
  outcome trouble = std::exchange(trouble_, outcome{});
  if (trouble.ok())
    if (const int os_error = closed_->os_error.exchange(0); os_error != 0) trouble = {errc::io, os_error};
  if (trouble.ok() || trouble.os_error == told_error_) return {};
  told_error_ = trouble.os_error;
  return trouble;
}

void rotating_sink::disown_after_fork() noexcept {
  inside_->disown_after_fork();
  guard_.reset();
  // The helper's thread is the parent's; its state is left alone.
  closed_.reset();
}

std::unique_ptr<sink> make_rotating_sink(const sink_config& settings, rotating_sink::maker make) {
  return std::make_unique<rotating_sink>(settings, make);
}

}  // namespace penstock::sinks
