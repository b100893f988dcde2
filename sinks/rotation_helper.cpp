// SPDX-License-Identifier: MIT
#include "sinks/rotation_helper.hpp"

#include <sys/file.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "lib/os/file.hpp"
#include "sinks/rotation_names.hpp"

namespace penstock::sinks {
namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

constexpr auto leave_wait = 1s;
// A file that another process still writes to is looked at again after this; it notices within a second that its file was closed.
constexpr auto locked_wait = 1s;
constexpr int niceness = 10;
// Between two looks at one folder. Where a thousand files a second are closed, listing it for each of them took 8 % of a machine of two
// cores (perf, bench rotation), and every removal holds up the backend, which makes names in the same folder.
constexpr auto look_interval = 10ms;
constexpr auto never = steady::time_point::max();
// A reserved name is used within microseconds, and a compression writes all the time.
constexpr time_t reserved_seconds_max = 60;

}  // namespace

struct rotation_helper::state {
  pid_t owner = ::getpid();
  std::mutex users;  // add and remove, one at a time: the thread is started and joined under it
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::shared_ptr<closed_files>> all;
  bool ending = false;
  os::thread thread;

  static void run(void* self) { static_cast<state*>(self)->work(); }
  void work() noexcept;
  bool work_once(std::unique_lock<std::mutex>& lock) noexcept;
  static void retain(closed_files& files) noexcept;
  compressed compress(closed_files& files) noexcept;

  steady::time_point locked_until = never;
  steady::time_point rest_until = never;  ///< of the log whose turn comes first
};

// Never destroyed; in a forked child, where the thread does not exist and the mutexes may be locked for ever, it is left and made anew.
// Without a lock of its own for the same reason.
rotation_helper::state& rotation_helper::current() noexcept {
  static std::atomic<state*> made{nullptr};
  state* now = made.load(std::memory_order_acquire);
  if (now != nullptr && now->owner == ::getpid()) return *now;
  auto* fresh = new state;  // NOLINT(bugprone-unhandled-exception-at-new): without memory for it, ending is right
  if (made.compare_exchange_strong(now, fresh, std::memory_order_acq_rel)) return *fresh;
  delete fresh;
  return *now;
}

void rotation_helper::add(std::shared_ptr<closed_files> files) {
  state& helper = current();
  const std::lock_guard user(helper.users);
  {
    const std::lock_guard lock(helper.mutex);
    helper.all.push_back(std::move(files));
    helper.ending = false;
  }
  if (helper.thread.running()) {
    helper.changed.notify_all();
    return;
  }
  try {
    helper.thread.start("penstock-rotate", &state::run, &helper);
  } catch (...) {
    const std::lock_guard lock(helper.mutex);
    helper.all.pop_back();
    throw;
  }
}

void rotation_helper::look(closed_files& files) noexcept {
  const rotate_config& rules = files.rules;
  const bool all_stay = rules.keep == 0 && rules.max_age.count() == 0 && rules.max_total == 0;
  if (all_stay && rules.compress == compression::none) return;
  state& helper = current();
  {
    const std::lock_guard lock(helper.mutex);
    if (files.wanted) return;
    files.wanted = files.compress = true;
  }
  helper.changed.notify_all();
}

void rotation_helper::remove(const std::shared_ptr<closed_files>& files) noexcept {
  state& helper = current();
  const std::lock_guard user(helper.users);
  std::unique_lock lock(helper.mutex);
  files->leaving = true;
  files->leave_by = steady::now() + leave_wait;
  helper.changed.notify_all();
  helper.changed.wait(lock, [&] { return files->finished; });
  helper.all.erase(std::remove(helper.all.begin(), helper.all.end(), files), helper.all.end());
  if (!helper.all.empty()) return;
  helper.ending = true;
  helper.changed.notify_all();
  lock.unlock();
  helper.thread.join();
}

void rotation_helper::state::work() noexcept {
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(os::thread_id()), niceness);
  std::unique_lock lock(mutex);
  while (!ending) {
    if (work_once(lock)) continue;
    if (const auto until = std::min(locked_until, rest_until); until != never)
      changed.wait_until(lock, until);
    else
      changed.wait(lock);
  }
}

// The one thing that matters most; false: there is nothing to do now. Room is made before anything is compressed.
bool rotation_helper::state::work_once(std::unique_lock<std::mutex>& lock) noexcept {
  const auto now = steady::now();
  rest_until = never;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::shared_ptr<closed_files> files = all[i];
    if (!files->wanted) continue;
    if (!files->leaving && now < files->rest_until) {
      rest_until = std::min(rest_until, files->rest_until);
      continue;
    }
    files->wanted = false;
    lock.unlock();
    retain(*files);
    lock.lock();
    files->rest_until = steady::now() + look_interval;
    return true;
  }
  if (locked_until <= now) locked_until = never;
  const auto may_compress = [&](const closed_files& files) {
    const bool late = files.leaving && now >= files.leave_by;
    return files.compress && files.rules.compress != compression::none && !late && locked_until == never;
  };
  for (const auto& files : all) {
    if (!files->leaving || files->finished || may_compress(*files)) continue;
    files->finished = true;
    changed.notify_all();
    return true;
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::shared_ptr<closed_files> files = all[i];
    if (files->finished || !may_compress(*files)) continue;
    files->compress = false;
    lock.unlock();
    const compressed result = compress(*files);
    lock.lock();
    // Interrupted: for another sink that ends, or for this one.
    if (result == compressed::one || result == compressed::locked || result == compressed::interrupted) files->compress = true;
    if (result == compressed::locked) locked_until = steady::now() + locked_wait;
    return true;
  }
  return false;
}

void rotation_helper::state::retain(closed_files& files) noexcept {
  try {
    if (const int os_error = apply_retention(files, std::chrono::system_clock::now()); os_error != 0) files.os_error = os_error;
  } catch (const std::system_error& failed) {
    files.os_error = failed.code().value();
  } catch (...) {
    files.os_error = ENOMEM;
  }
}

compressed rotation_helper::state::compress(closed_files& files) noexcept {
  const auto give_up = [](void* raw) {
    state& self = *static_cast<state*>(raw);
    const std::lock_guard lock(self.mutex);
    const auto now = steady::now();
    return std::any_of(self.all.begin(), self.all.end(),
                       [now](const auto& each) { return each->leaving && !each->finished && now >= each->leave_by; });
  };
  int os_error = 0;
  compressed result = compressed::failed;
  try {
    result = compress_one(files, give_up, this, os_error);
  } catch (const std::system_error& failed) {
    os_error = failed.code().value();
  } catch (...) {
    os_error = ENOMEM;
  }
  if (result == compressed::failed) files.os_error = os_error;
  return result;
}

bool remove_unused(const std::filesystem::path& file) noexcept {
  const os::descriptor open(os::calls().open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0));
  struct stat facts {};
  if (!open.valid() || ::flock(open.get(), LOCK_EX | LOCK_NB) != 0 || os::calls().fstat(open.get(), &facts) != 0) return false;
  return S_ISREG(facts.st_mode) && facts.st_size == 0 && ::unlink(file.c_str()) == 0;
}

void remove_traces(const closed_files& files, bool shared) {
  for (const closed_file& each : list_closed_files(files.folder, files.base)) {
    const std::filesystem::path file = files.folder / each.file;
    struct stat facts {};
    if (shared && (os::calls().stat(file.c_str(), &facts) != 0 || ::time(nullptr) - facts.st_ctim.tv_sec < reserved_seconds_max)) continue;
    if (each.parsed.is == parsed_name::form::unfinished)
      ::unlink(file.c_str());
    else if (each.bytes == 0)
      remove_unused(file);
  }
}

int apply_retention(const closed_files& files, std::chrono::system_clock::time_point now) {
  const rotate_config& rules = files.rules;
  if (rules.keep == 0 && rules.max_age.count() == 0 && rules.max_total == 0) return 0;
  const std::vector<closed_file> found = list_closed_files(files.folder, files.base);
  const std::int64_t now_second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const std::int64_t age_max = std::chrono::ceil<std::chrono::seconds>(rules.max_age).count();
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  rotated_name newest_seen{-1, 0};
  bool rest_goes = false;
  int os_error = 0;
  for (auto each = found.rbegin(); each != found.rend(); ++each) {
    // An empty one is a name that is being reserved.
    if (each->parsed.is == parsed_name::form::unfinished || each->bytes == 0) continue;
    // Killed between the last two steps of a compression: both are one file.
    if (each->parsed.name != newest_seen) ++count;
    newest_seen = each->parsed.name;
    bytes += each->bytes;
    rest_goes = rest_goes || (rules.keep != 0 && count > rules.keep) || (rules.max_total != 0 && bytes > rules.max_total) ||
                (rules.max_age.count() != 0 && now_second - each->parsed.name.second > age_max);
    if (rest_goes && ::unlinkat(AT_FDCWD, (files.folder / each->file).c_str(), 0) != 0 && errno != ENOENT) os_error = errno;
  }
  return os_error;
}

}  // namespace penstock::sinks
