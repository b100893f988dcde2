// SPDX-License-Identifier: MIT
#include "bench/suites/tuner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "bench/suites/content.hpp"
#include "bench/suites/environment.hpp"
#include "bench/suites/progress.hpp"
#include "bench/suites/raw_io.hpp"
#include "bench/suites/scratch.hpp"
#include "bench/suites/sink_rows.hpp"

namespace penstock::bench {
namespace {

// Fewer candidates than this are not thinned out any more: they are what the time is worth spending on.
constexpr std::size_t finalists = 3;

void rank(std::vector<candidate>& candidates) {
  std::stable_sort(candidates.begin(), candidates.end(), [](const candidate& a, const candidate& b) { return a.rate() > b.rate(); });
}

// fdatasync of one more batch: what `sync = "batch"` would cost.
double sync_ms(const std::filesystem::path& file, std::size_t batch_bytes) {
  const os::descriptor fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640));
  if (!fd.valid()) fail("cannot make", file);
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    put(fd.get(), content::piece(0, batch_bytes));
    const auto before = pass::clock::now();
    if (::fdatasync(fd.get()) != 0) fail("fdatasync", file);
    times.push_back(std::chrono::duration<double, std::milli>(pass::clock::now() - before).count());
  }
  return summarise(times).median;
}

double ring_mb_per_s(const std::filesystem::path& file, std::uint64_t bytes) {
  try {
    const sweep_pass pass = run_sweep_pass({"mmap_ring", page_cache_policy::keep, std::size_t{64} << 10}, file, bytes);
    return static_cast<double>(pass.bytes) / 1e6 / pass.seconds;
  } catch (const unavailable&) {
    return 0;
  }
}

std::string toml_string(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

const candidate& choose(const std::vector<candidate>& ranking) {
  const double best = ranking.front().rate();
  const candidate* chosen = &ranking.front();
  for (const candidate& one : ranking)
    if (one.rate() >= (1 - equal_rates) * best && one.cpu() < chosen->cpu()) chosen = &one;
  return *chosen;
}

std::vector<candidate> tune_candidates(page_cache_policy cache) {
  std::vector<candidate> candidates;
  for (const sweep_choice& choice : sweep_choices())
    if (choice.cache == cache && choice.type != "mmap_ring") candidates.push_back({.choice = choice});
  return candidates;
}

tuning tune(std::vector<candidate> candidates, std::chrono::duration<double> time, const measure_pass& measure,
            const std::function<std::chrono::duration<double>()>& elapsed) {
  tuning result;
  std::vector<candidate> out;  // thinned out, or never worked
  const auto time_is_up = [&](bool first) { return interrupted() || (!first && elapsed() >= time); };
  // Rounds cost less and less, so the passes of each grow: every stage gets about the same time.
  std::size_t rounds = 1;
  for (bool first = true; !candidates.empty() && !time_is_up(first); first = false) {
    for (std::size_t round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < candidates.size() && !time_is_up(first);) {
        candidate& one = candidates[i];
        try {
          const sweep_pass pass = measure(one.choice);
          one.mb_per_s.push_back(static_cast<double>(pass.bytes) / 1e6 / pass.seconds);
          one.cpu_s_per_gb.push_back(pass.cpu_seconds / (static_cast<double>(pass.bytes) / 1e9));
          one.hand_over_us.insert(one.hand_over_us.end(), pass.hand_over_us.begin(), pass.hand_over_us.end());
          ++i;
        } catch (const unavailable& reason) {
          result.notes.push_back(one.choice.name() + " is not available here: " + reason.what());
          candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
    }
    rank(candidates);
    if (candidates.size() > finalists) {
      const auto half = static_cast<std::ptrdiff_t>(std::max(finalists, (candidates.size() + 1) / 2));
      out.insert(out.begin(), candidates.begin() + half, candidates.end());
      candidates.erase(candidates.begin() + half, candidates.end());
      rounds *= 2;
    }
  }
  std::erase_if(candidates, [](const candidate& one) { return one.mb_per_s.empty(); });
  if (candidates.empty())
    throw std::runtime_error(interrupted() ? "interrupted before anything was measured" : "no sink works in this folder");
  rank(candidates);
  result.chosen = choose(candidates);
  result.ranking = std::move(candidates);
  result.ranking.insert(result.ranking.end(), out.begin(), out.end());
  std::erase_if(result.ranking, [](const candidate& one) { return one.mb_per_s.empty(); });
  result.interrupted = interrupted();
  return result;
}

tuning tune_folder(const tune_options& chosen) {
  require_space(chosen.dir, chosen.pass_bytes + sweep_batch_bytes_max * 2, "tune");
  const interrupt_watch watch;
  const scratch_folder folder(chosen.dir);
  const auto start = pass::clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(pass::clock::now() - start); };
  progress line("tune", chosen.time.count());
  double shown = 0;
  const auto measure = [&](const sweep_choice& choice) {
    line.show(choice.name());
    sweep_pass result = run_sweep_pass(choice, folder.target(), chosen.pass_bytes);
    const double now = std::min(elapsed().count(), chosen.time.count());
    line.step(now - shown);
    shown = now;
    return result;
  };
  tuning result = tune(tune_candidates(chosen.cache), chosen.time, measure, elapsed);
  result.sync_ms = sync_ms(folder.target(), result.chosen.choice.batch_bytes);
  result.ring_mb_per_s = ring_mb_per_s(folder.target(), chosen.pass_bytes);
  return result;
}

std::string tuning_toml(const tuning& result, const tune_options& chosen) {
  const sweep_choice& best = result.chosen.choice;
  std::vector<double> hand_over = result.chosen.hand_over_us;
  std::sort(hand_over.begin(), hand_over.end());
  std::string out = "# Chosen by penstock tune for " + std::filesystem::weakly_canonical(chosen.dir).string() + "\n";
  for (const fact& one : environment_of(chosen.dir))
    if (one.name != "folder") out += fmt::format("#   {}: {}\n", one.name, one.value);
  out += fmt::format("# {} at {}: {} MB/s and {} CPU s/GB, median of {} passes of {} MB; a hand-over takes {} us (p50), {} us (p99).\n",
                     best.type, size_text(best.batch_bytes), three_digits(result.chosen.rate()), three_digits(result.chosen.cpu()),
                     result.chosen.mb_per_s.size(), chosen.pass_bytes / 1'000'000, three_digits(percentile(hand_over, 0.5)),
                     three_digits(percentile(hand_over, 0.99)));
  if (result.ranking.front().choice != best)
    out += fmt::format("# {} gave {} MB/s, no more than {:.0f} % above; this one costs less CPU.\n", result.ranking.front().choice.name(),
                       three_digits(result.ranking.front().rate()), equal_rates * 100);
  out += "# The others (sink/page cache/batch: MB/s, CPU s/GB, passes):\n";
  for (const candidate& one : result.ranking) {
    if (one.choice == best) continue;
    out += fmt::format("#   {}: {}, {}, {}\n", one.choice.name(), three_digits(one.rate()), three_digits(one.cpu()), one.mb_per_s.size());
  }
  for (const std::string& note : result.notes) out += "# " + note + "\n";
  if (const summary rate = summarise(result.chosen.mb_per_s); !rate.trusted())
    out += fmt::format("# The passes of the chosen one lie between {} and {} MB/s: quieten the machine or give --time more.\n",
                       three_digits(rate.min), three_digits(rate.max));
  if (result.interrupted) out += "# INTERRUPTED: chosen from what was measured until then.\n";
  // Below this, fdatasync returned without asking any device.
  constexpr double no_medium_ms = 0.005;
  if (result.sync_ms < no_medium_ms)
    out += "# fdatasync has nothing to do here: this file system has no medium, and a reboot loses the log.\n";
  else
    out += fmt::format("# sync = \"batch\" would add an fdatasync of {} ms to each batch: {} MB/s at most.\n", three_digits(result.sync_ms),
                       three_digits(static_cast<double>(best.batch_bytes) / 1e3 / result.sync_ms));
  if (result.ring_mb_per_s > 0)
    out += fmt::format("# An mmap_ring gave {} MB/s, but keeps the end of the log only.\n", three_digits(result.ring_mb_per_s));
  out += "\n[sinks.app]\n";
  out += fmt::format("type = {}\npath = {}\nbatch_size = {}\n", toml_string(best.type),
                     toml_string((std::filesystem::weakly_canonical(chosen.dir) / "app.log").string()),
                     toml_string(size_text(best.batch_bytes)));
  if (best.cache != page_cache_policy::keep) out += fmt::format("page_cache = \"{}\"\n", text(best.cache));
  return out;
}

}  // namespace penstock::bench
