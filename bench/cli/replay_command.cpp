// SPDX-License-Identifier: MIT
#include "bench/cli/replay_command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <penstock/base/error.hpp>

#include "bench/cli/exit_status.hpp"
#include "bench/cli/replay_input.hpp"
#include "bench/cli/replay_plan.hpp"
#include "bench/cli/replay_run.hpp"
#include "bench/cli/replay_verify.hpp"
#include "bench/suites/scratch.hpp"
#include "lib/config/units.hpp"

namespace penstock::cli {
namespace {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string grouped(double number) { return grouped(static_cast<std::uint64_t>(std::llround(number))); }

std::string plural(std::size_t count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

void print_sink(const std::string& name, const sink_config& asked, const sink_stats& real, bool temporary) {
  fmt::print("sink       {}: {}, batches of {}", name, real.type, detail::size_text(effective_batch_bytes(asked)));
  if (!asked.path.empty()) fmt::print(", {}", temporary ? "a temporary file, removed" : asked.path.string());
  fmt::print("\n");
  if (!real.fallback.empty()) fmt::print("           not {}: {}\n", asked.type, real.fallback);
  if (real.lost.total() != 0) fmt::print("           lost {} lines\n", grouped(real.lost.total()));
  if (real.held.total() != 0) fmt::print("           not written {} lines\n", grouped(real.held.total()));
}

std::uint64_t lost_lines(const replay_result& result) {
  std::uint64_t lost = 0;
  for (const sink_stats& sink : result.stats.sinks) lost += sink.lost.total();
  return lost;
}

void print_result(const replay_call& call, const replay_plan& plan, const replay_result& result, bool temporary) {
  fmt::print("replayed   {}, {}, {}\n", plural(call.logs.size(), "file"), plural(call.repeat, "time"), plural(call.threads, "thread"));
  fmt::print("lines      {}\n", grouped(result.sent_lines));
  fmt::print("bytes      {}\n", grouped(result.sent_bytes));
  fmt::print("seconds    {:.6f} until the last line was with the kernel, {:.6f} until the last call returned\n", result.written_seconds,
             result.returned_seconds);
  const double seconds = result.written_seconds > 0 ? result.written_seconds : 1e-9;
  fmt::print("lines/s    {}{}\n", grouped(static_cast<double>(result.sent_lines - result.dropped_lines) / seconds),
             result.dropped_lines == 0 ? "" : ", those dropped not counted");
  if (result.dropped_lines == 0) fmt::print("MB/s       {:.1f}\n", static_cast<double>(result.sent_bytes) / seconds / 1e6);
  fmt::print("drops      {}", grouped(result.dropped_lines + lost_lines(result)));
  if (lost_lines(result) != 0)
    fmt::print(" ({} by the overflow policy, {} by sinks)", grouped(result.dropped_lines), grouped(lost_lines(result)));
  fmt::print("\n");
  if (result.cut_short_lines != 0)
    fmt::print("cut short  {} line(s) were longer than a record may be: the lesser of 16 MiB and a quarter of `memory`\n",
               grouped(result.cut_short_lines));
  for (const sink_stats& sink : result.stats.sinks)
    if (const auto asked = plan.settings.sinks.find(sink.name); asked != plan.settings.sinks.end())
      print_sink(sink.name, asked->second, sink, temporary && !asked->second.path.empty());
  for (const std::string& remark : plan.remarks) fmt::print("note       {}\n", remark);
}

/// False: an output differs.
bool verify(const replay_call& call, const replay_plan& plan, const std::deque<log_file>& logs) {
  bool same = true;
  for (const verified_output& output : plan.outputs) {
    const verify_result result = verify_output(output, call, logs);
    fmt::print("{} {}: {}\n", result.same ? "verified  " : "DIFFERENT ", output.sink, result.text);
    same = same && result.same;
  }
  return same;
}

std::unique_ptr<bench::scratch_folder> temporary_folder() {
  try {
    return std::make_unique<bench::scratch_folder>(".");
  } catch (const std::system_error& error) {
    throw std::system_error(error.code(), "cannot make a temporary output in the working folder; name an output by --out");
  }
}

int replay(const replay_call& call) {
  std::deque<log_file> logs;
  for (const std::filesystem::path& path : call.logs) logs.emplace_back(path);
  const bench::interrupt_watch watch;
  std::unique_ptr<bench::scratch_folder> temporary;
  if (needs_temporary_out(call)) temporary = temporary_folder();
  const replay_plan plan = make_replay_plan(call, logs, temporary ? temporary->target() : std::filesystem::path());
  const replay_result result = run_replay(call, plan, logs);
  print_result(call, plan, result, temporary != nullptr);
  bool good = result.flushed && result.stopped && result.dropped_lines == 0 && lost_lines(result) == 0;
  if (result.interrupted) {
    std::fputs("penstock: interrupted; what stands above is a part\n", stderr);
    return work_failed;
  }
  if (!result.flushed) std::fputs("penstock: not all lines could be written; the reasons stand above\n", stderr);
  if (call.verify && !verify(call, plan, logs)) good = false;
  return good ? done : work_failed;
}

std::string batch_size_problem(const std::string& text) { return detail::parse_size(text).problem; }

}  // namespace

void add_replay_command(CLI::App& app, int& exit_status) {
  CLI::App* const command = app.add_subcommand(
      "replay", "sends each line of real log files through the logger, byte for byte, and reports lines, bytes, seconds and drops");
  command->footer(
      "The lines come out as they went in: pattern {message}, control characters raw; a last line without a newline gets one.\n"
      "With --threads, whole files are sent in turn; their lines mix, and --verify compares them in any order.\n"
      "With --config, the lines go to the sinks of the root logger; if there is one, --sink, --out and --batch-size change it.");
  const auto call = std::make_shared<replay_call>();
  const auto batch_size = std::make_shared<std::string>();
  command->add_option("LOG", call->logs, "log files, or pipes")->required();
  command->add_option("--config", call->config_file, "a config file, whose [backend] and sinks are used")->option_text("FILE");
  command->add_option("--sink", call->sink, "write (default), pwrite, mmap_ring, io_uring, stdio, console, null")
      ->check(CLI::IsMember({"write", "pwrite", "mmap_ring", "io_uring", "stdio", "console", "null"}))
      ->option_text("TYPE");
  command->add_option("--out", call->out, "where the lines go; default: a temporary file in the working folder, removed afterwards")
      ->option_text("PATH");
  command->add_option("--batch-size", *batch_size, "such as \"256 KiB\"; whole pages")
      ->check(CLI::Validator(batch_size_problem, "SIZE"))
      ->option_text("SIZE");
  command->add_option("--threads", call->threads, "threads that send (default: 1)")->check(CLI::Range(1, 1024))->option_text("N");
  command->add_option("--repeat", call->repeat, "how often each file is sent (default: 1)")
      ->check(CLI::Range(1, 1'000'000))
      ->option_text("N");
  command->add_flag("--verify", call->verify, "reads the output back and compares it with what was sent");
  command->callback([call, batch_size, &exit_status] {
    if (!batch_size->empty()) call->batch_size = static_cast<std::size_t>(detail::parse_size(*batch_size).value);
    exit_status = replay(*call);
  });
}

}  // namespace penstock::cli
