// SPDX-License-Identifier: MIT
// Scenarios that need a process of their own: how a program begins and ends, forks, and unloads modules.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include <penstock/penstock.hpp>

#include "tests/engine/programs/statics.hpp"

namespace {

using namespace penstock;
using namespace std::chrono_literals;

std::string type = "write";
std::string path;
int count = 100;

config settings() {
  config made;
  sink_config sink;
  sink.type = type;
  if (type != "console") sink.path = path;
  if (type == "mmap_ring") sink.size = std::size_t{8} << 20;
  sink.pattern = "{message}";
  made.sinks.emplace("app", sink);
  return made;
}

struct late_static {
  ~late_static() {
    if (!statics_log) return;
    for (int i = 0; i < 3; ++i) PENSTOCK_INFO("late static {}", i);
  }
};

struct thread_end {
  ~thread_end() { PENSTOCK_INFO("thread_local of {}", name); }
  std::string name;
};

void log_from_threads(int thread_count, int each_count) {
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([=] {
      for (int i = 0; i < each_count; ++i) PENSTOCK_INFO("p={} n={}", t, i);
    });
  for (std::thread& each : threads) each.join();
}

int statics() {
  statics_log = true;
  static const late_static object;
  start(settings());
  PENSTOCK_INFO("main");
  return 0;
}

int statics_without_start() {
  statics_log = true;
  static const late_static object;
  PENSTOCK_INFO("main");
  return 0;
}

int thread_locals() {
  start(settings());
  std::thread([] {
    thread_local const thread_end object{"a thread"};
    PENSTOCK_INFO("thread {}", object.name);
  }).join();
  thread_local const thread_end own{"main"};
  PENSTOCK_INFO("{}", own.name);
  return 0;
}

int exit_without_stop() {
  start(settings());
  log_from_threads(8, 2'000);
  return 0;
}

int exit_by_call() {
  start(settings());
  log_from_threads(8, 2'000);
  std::exit(7);
}

int flush_then_exit_at_once() {
  start(settings());
  log_from_threads(8, 2'000);
  if (!flush()) return 1;
  ::_exit(0);
}

// Threads that never stop logging while main() returns.
int detached() {
  start(settings());
  for (int t = 0; t < 8; ++t)
    std::thread([t] {
      for (long i = 0;; ++i) PENSTOCK_INFO("p={} n={}", t, i);
    }).detach();
  std::this_thread::sleep_for(20ms);  // They are to be in full swing when main() returns.
  return 0;
}

int after_stop() {
  start(settings());
  PENSTOCK_INFO("before");
  if (!stop() || !stop()) return 1;
  log_from_threads(4, 1'000);
  if (!flush()) return 2;
  PENSTOCK_INFO("last {}", 1);
  start(settings());
  PENSTOCK_INFO("started anew");
  if (!stop()) return 3;
  const stats_snapshot now = stats();
  return now.front.queued == 0 && now.front.dropped_total() == 0 ? 0 : 4;
}

int implicit() {
  PENSTOCK_INFO("first {}", 1);
  PENSTOCK_DEBUG("not at level info");
  PENSTOCK_WARNING("second");
  return 0;
}

int implicit_then_explicit() {
  PENSTOCK_INFO("implicit");
  start(settings());
  PENSTOCK_INFO("explicit");
  try {
    start(settings());
    return 1;
  } catch (const config_error&) {
  }
  PENSTOCK_INFO("unchanged");
  return stop() ? 0 : 2;
}

int stop_again_and_again() {
  for (int i = 0; i < 100; ++i) {
    start(settings());
    PENSTOCK_INFO("run {}", i);
    if (!stop()) return 1;
    PENSTOCK_INFO("after run {}", i);
  }
  return 0;
}

// Many forks while four threads log; each child logs a line and leaves.
int fork_under_load() {
  start(settings());
  std::atomic<bool> end{false};
  std::vector<std::thread> threads;
  std::atomic<long> logged{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (long i = 0; !end; ++i) {
        PENSTOCK_INFO("p={} n={}", t, i);
        ++logged;
        if (i % 64 == 0) std::this_thread::sleep_for(1ms);  // The load of a service, not of a benchmark.
      }
    });
  int result = 0;
  for (int i = 0; i < count && result == 0; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      PENSTOCK_INFO("child {}", i);
      const bool flushed = flush(10s);
      if (i % 2 == 0) ::_exit(flushed ? 7 : 8);
      std::exit(flushed ? 7 : 8);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) {
      std::fprintf(stderr, "child %d: status %x\n", i, static_cast<unsigned>(status));
      result = 1;
    }
  }
  end = true;
  for (std::thread& each : threads) each.join();
  PENSTOCK_INFO("total {}", logged.load());
  return stop() ? result : 2;
}

int stop_fork_start() {
  for (int i = 0; i < 100; ++i) {
    start(settings());
    PENSTOCK_INFO("parent {}", i);
    if (!stop()) return 1;
    const pid_t child = ::fork();
    if (child == 0) {
      path += "." + std::to_string(i);
      start(settings());
      PENSTOCK_INFO("child {}", i);
      std::exit(stop() ? 7 : 8);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) return 2;
  }
  return 0;
}

int child_that_never_logs() {
  start(settings());
  PENSTOCK_INFO("parent");
  for (int i = 0; i < 50; ++i) {
    const pid_t child = ::fork();
    if (child == 0) std::exit(7);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) return 2;
  }
  return 0;
}

int modules(const std::vector<std::string>& files) {
  config made = settings();
  made.sinks["app"].pattern = "{file} {function} {message}";
  start(made);
  for (int round = 0; round < 20; ++round)
    for (const std::string& file : files) {
      void* module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (module == nullptr) {
        std::fprintf(stderr, "%s\n", ::dlerror());
        return 1;
      }
      reinterpret_cast<void (*)(int)>(::dlsym(module, "log_from_module"))(100);
      ::dlclose(module);
    }
  return stop() ? 0 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 64;
  const std::string name = argv[1];
  type = argv[2];
  path = argv[3];
  const std::map<std::string, int (*)()> scenarios{
      {"statics", statics},
      {"statics_without_start", statics_without_start},
      {"thread_locals", thread_locals},
      {"exit_without_stop", exit_without_stop},
      {"exit_by_call", exit_by_call},
      {"flush_then_exit_at_once", flush_then_exit_at_once},
      {"detached", detached},
      {"after_stop", after_stop},
      {"implicit", implicit},
      {"implicit_then_explicit", implicit_then_explicit},
      {"stop_again_and_again", stop_again_and_again},
      {"fork_under_load", fork_under_load},
      {"stop_fork_start", stop_fork_start},
      {"child_that_never_logs", child_that_never_logs},
  };
  if (argc > 4) count = std::atoi(argv[4]);
  if (name == "modules") return modules({argv + 4, argv + argc});
  const auto found = scenarios.find(name);
  return found == scenarios.end() ? 64 : found->second();
}
