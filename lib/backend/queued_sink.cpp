// SPDX-License-Identifier: MIT
#include "lib/backend/queued_sink.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "lib/os/batch_buffer.hpp"
#include "lib/os/thread.hpp"

namespace penstock::backend {

namespace {

using namespace std::chrono_literals;

constexpr auto moment_of_patience = 1ms;  // The backend may spend so long on one sink's answer.
constexpr auto resume_patience = 10ms;    // A disk that works answers in this time, so that its error is counted, not its silence.
constexpr auto end_patience = 1s;         // At stop(): a thread that is still in the kernel then is left behind.

// The most of `data` that goes into a room of `room_bytes` without dividing a line, unless one line alone is longer.
std::size_t whole_lines(std::span<const std::byte> data, std::size_t room_bytes) noexcept {
  if (data.size() <= room_bytes) return data.size();
  std::size_t bytes = room_bytes;
  while (bytes > 0 && data[bytes - 1] != std::byte{'\n'}) --bytes;
  return bytes > 0 ? bytes : room_bytes;
}

std::size_t first_line_bytes(std::span<const std::byte> data) noexcept {
  const auto end = std::find(data.begin(), data.end(), std::byte{'\n'});
  return static_cast<std::size_t>(end - data.begin()) + (end == data.end() ? 0 : 1);
}

}  // namespace

struct queued_sink::shared {
  enum class order : std::uint8_t { resume, flush, sync, reopen, maintain };
  static constexpr std::size_t order_count = 5;

  struct slot {
    os::batch_buffer memory{};
    std::size_t used_bytes = 0;
    std::chrono::system_clock::time_point line_time{};
  };
  struct errand {
    bool asked = false;
    std::optional<outcome> answer{};
  };

  explicit shared(std::unique_ptr<sink> wrapped, std::size_t bytes) : inside(std::move(wrapped)), batch_bytes(bytes) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      slots[i].memory = os::batch_buffer(bytes);
      free.push_back(i);
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::unique_ptr<sink> inside;  // The writer's while `busy`; else under the mutex.
  std::size_t batch_bytes;
  std::array<slot, batch_count> slots{};
  std::vector<std::size_t> free;  // Last in, first out: warm memory.
  std::deque<std::size_t> filled;
  std::optional<std::size_t> lent;
  std::size_t front_done_bytes = 0;  // Of the first filled batch: given to the sink inside.
  std::size_t held_bytes = 0;        // Given to it, and held there after an error.
  std::uint64_t waiting_bytes = 0;   // Submitted, and not known to be written.
  outcome error{};
  std::array<errand, order_count> errands{};
  cut end = cut::pages;
  std::chrono::system_clock::time_point until = std::chrono::system_clock::time_point::max();
  bool busy = false;
  bool discard = false;  // Given up while busy: what the writer has in hand is not counted any more.
  bool stopping = false;
  void (*on_thread)() = nullptr;
  os::thread writer;

  errand& at(order what) noexcept { return errands[static_cast<std::size_t>(what)]; }
  void run();
  void write_front(std::unique_lock<std::mutex>& lock);
  void run_errand(std::unique_lock<std::mutex>& lock, order what);
  bool anything_asked() const noexcept {
    return std::any_of(errands.begin(), errands.end(), [](const errand& each) { return each.asked; });
  }
  outcome ask(order what, std::chrono::nanoseconds patience);
};

// Brings a part of the first filled batch to the sink inside.
void queued_sink::shared::write_front(std::unique_lock<std::mutex>& lock) {
  slot& front = slots[filled.front()];
  const std::span<const std::byte> rest(front.memory.data() + front_done_bytes, front.used_bytes - front_done_bytes);
  const lend_request request{.line_bytes = first_line_bytes(rest), .line_time = front.line_time};
  busy = true;
  lock.unlock();
  const batch room = inside->lend(request);
  std::size_t bytes = 0;
  outcome result = room.room.empty() ? inside->flush() : outcome{};
  if (!room.room.empty()) {
    bytes = room.end == cut::lines ? whole_lines(rest, room.room.size()) : std::min(rest.size(), room.room.size());
    std::memcpy(room.room.data(), rest.data(), bytes);
    result = inside->submit(bytes);
  }
  lock.lock();
  busy = false;
  changed.notify_all();
  if (std::exchange(discard, false)) return;
  end = room.room.empty() ? end : room.end;
  until = room.room.empty() ? until : room.until;
  front_done_bytes += bytes;
  if (result.ok() || result.code == errc::pending) {
    waiting_bytes -= bytes;
  } else {
    error = result;
    held_bytes += bytes;
  }
  if (front_done_bytes == front.used_bytes) {
    free.push_back(filled.front());
    filled.pop_front();
    front_done_bytes = 0;
  } else if (bytes == 0 && error.ok()) {
    changed.wait_for(lock, moment_of_patience);  // Everything inside is in flight.
  }
}

void queued_sink::shared::run_errand(std::unique_lock<std::mutex>& lock, order what) {
  busy = true;
  lock.unlock();
  outcome result;
  switch (what) {
    case order::resume:
      result = inside->resume();
      break;
    case order::flush:
      result = inside->flush();
      break;
    case order::sync:
      result = inside->sync();
      break;
    case order::reopen:
      result = inside->reopen();
      break;
    case order::maintain:
      result = inside->maintain();
      break;
  }
  lock.lock();
  busy = false;
  errand& done = at(what);
  done.asked = false;
  done.answer = result;
  const bool dropped = std::exchange(discard, false);
  if (what == order::resume && !dropped) {
    const bool good = result.ok() || result.code == errc::pending;
    error = good ? outcome{} : result;
    if (good) waiting_bytes -= std::exchange(held_bytes, 0);
  }
  changed.notify_all();
}

void queued_sink::shared::run() {
  if (on_thread != nullptr) on_thread();
  std::unique_lock lock(mutex);
  for (;;) {
    changed.wait(lock, [this] { return stopping || anything_asked() || (!filled.empty() && error.ok()); });
    // What was asked waits for what was submitted before, but for a resume.
    if (at(order::resume).asked) {
      run_errand(lock, order::resume);
    } else if (!filled.empty() && error.ok()) {
      write_front(lock);
    } else if (anything_asked()) {
      for (std::size_t i = 0; i < order_count; ++i)
        if (errands[i].asked) run_errand(lock, static_cast<order>(i));
    } else if (stopping) {
      return;
    }
  }
}

// The answer, or pending if there is none in time: it is kept for the next who asks the same.
outcome queued_sink::shared::ask(order what, std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex);
  errand& asked = at(what);
  if (!asked.answer && !asked.asked) {
    asked.asked = true;
    changed.notify_all();
  }
  changed.wait_for(lock, patience, [&] { return asked.answer.has_value(); });
  if (!asked.answer) return {errc::pending, 0};
  return *std::exchange(asked.answer, std::nullopt);
}

queued_sink::queued_sink(std::unique_ptr<sink> inside, std::size_t batch_bytes, void (*on_thread)())
    : shared_(std::make_shared<shared>(std::move(inside), batch_bytes)) {
  const batch first = shared_->inside->lend({});
  shared_->end = first.end;
  shared_->until = first.until;
  shared_->on_thread = on_thread;
  auto* own = new std::shared_ptr<shared>(shared_);
  try {
    shared_->writer.start(
        "penstock-sink",
        [](void* raw) {
          const std::unique_ptr<std::shared_ptr<shared>> state(static_cast<std::shared_ptr<shared>*>(raw));
          (*state)->run();
        },
        own);
  } catch (...) {
    delete own;
    throw;
  }
}

queued_sink::~queued_sink() {
  bool idle = true;
  {
    std::unique_lock lock(shared_->mutex);
    shared_->stopping = true;
    shared_->changed.notify_all();
    idle = shared_->changed.wait_for(lock, end_patience, [this] { return !shared_->busy; });
  }
  if (idle) {
    shared_->writer.join();
  } else {
    shared_->writer.abandon();
  }
}

batch queued_sink::lend(lend_request request) noexcept {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->error.ok()) return {};
  if (!shared_->lent) {
    if (shared_->free.empty()) return {};
    shared_->lent = shared_->free.back();
    shared_->free.pop_back();
    shared_->slots[*shared_->lent].line_time = request.line_time;
  }
  shared::slot& lent = shared_->slots[*shared_->lent];
  return {.room = {lent.memory.data(), shared_->batch_bytes}, .end = shared_->end, .until = shared_->until};
}

outcome queued_sink::submit(std::size_t used_bytes) noexcept {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->lent) return shared_->error;
  const std::size_t index = *std::exchange(shared_->lent, std::nullopt);
  if (used_bytes == 0) {
    shared_->free.push_back(index);
    return {};
  }
  shared_->slots[index].used_bytes = used_bytes;
  shared_->filled.push_back(index);
  shared_->waiting_bytes += used_bytes;
  shared_->changed.notify_all();
  return shared_->error;
}

outcome queued_sink::resume() noexcept {
  bool under_way = false;
  {
    const std::lock_guard lock(shared_->mutex);
    under_way = shared_->at(shared::order::resume).asked;
  }
  return shared_->ask(shared::order::resume, under_way ? 0ns : resume_patience);
}

std::size_t queued_sink::abandon() noexcept {
  std::unique_lock lock(shared_->mutex);
  const bool idle = shared_->changed.wait_for(lock, end_patience, [this] { return !shared_->busy; });
  const auto lost = static_cast<std::size_t>(shared_->waiting_bytes);
  // What the sink inside held and had written in part counts by its own word.
  const std::size_t held = shared_->held_bytes;
  const std::size_t unwritten = idle ? shared_->inside->abandon() : held;
  shared_->discard = !idle;
  shared_->waiting_bytes = 0;
  shared_->held_bytes = 0;
  shared_->front_done_bytes = 0;
  shared_->error = {};
  for (const std::size_t index : shared_->filled) shared_->free.push_back(index);
  shared_->filled.clear();
  return lost - held + std::min(unwritten, held);
}

outcome queued_sink::flush() noexcept {
  {
    std::unique_lock lock(shared_->mutex);
    const auto settled = [this] { return !shared_->error.ok() || (shared_->filled.empty() && !shared_->busy); };
    if (!shared_->changed.wait_for(lock, moment_of_patience, settled)) return {errc::pending, 0};
    if (!shared_->error.ok()) return shared_->error;
  }
  return shared_->ask(shared::order::flush, moment_of_patience);
}

outcome queued_sink::sync() noexcept {
  const outcome flushed = flush();
  return flushed.ok() ? shared_->ask(shared::order::sync, moment_of_patience) : flushed;
}

outcome queued_sink::reopen() noexcept { return shared_->ask(shared::order::reopen, end_patience); }

std::uint64_t queued_sink::in_flight_bytes() const noexcept {
  const std::lock_guard lock(shared_->mutex);
  return shared_->waiting_bytes + (shared_->busy ? 0 : shared_->inside->in_flight_bytes());
}

outcome queued_sink::maintain() noexcept {
  const outcome found = shared_->ask(shared::order::maintain, 0ns);
  return found.code == errc::pending ? outcome{} : found;
}

std::unique_ptr<sink> queued_sink::retire() noexcept {
  std::unique_lock lock(shared_->mutex);
  const bool idle = shared_->changed.wait_for(lock, end_patience, [this] { return !shared_->busy; });
  return idle ? shared_->inside->retire() : nullptr;
}

void queued_sink::disown_after_fork() noexcept { shared_->inside->disown_after_fork(); }

sink_description queued_sink::describe() const {
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, moment_of_patience, [this] { return !shared_->busy; });
  return shared_->busy ? sink_description{} : shared_->inside->describe();
}

}  // namespace penstock::backend
