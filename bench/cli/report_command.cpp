// SPDX-License-Identifier: MIT
#include "bench/cli/report_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>

#include "bench/cli/bench_options.hpp"
#include "bench/cli/exit_status.hpp"
#include "bench/suites/export.hpp"
#include "bench/suites/html.hpp"
#include "bench/suites/picture.hpp"
#include "bench/suites/progress.hpp"
#include "bench/suites/published.hpp"
#include "bench/suites/scratch.hpp"
#include "bench/suites/suites.hpp"

namespace penstock::cli {
namespace {

constexpr int sweep_passes = 5;

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Passes of different rows are interleaved, so that a disk that drifts does not favour anyone.
std::vector<bench::sweep_row> run_sweep(const bench::options& chosen, std::vector<std::string>& failures) {
  const std::uint64_t bytes = chosen.smoke ? std::uint64_t{2} << 20 : std::uint64_t{256} << 20;
  const int passes = chosen.repeat > 0 ? chosen.repeat : chosen.smoke ? 1 : sweep_passes;
  std::vector<bench::sweep_row> rows;
  for (const bench::sweep_choice& choice : bench::sweep_choices()) {
    if (!chosen.smoke || choice.batch_bytes == std::size_t{64} << 10) rows.push_back({.choice = choice});
  }
  const bench::scratch_folder folder(chosen.dir);
  bench::progress line("sinks", static_cast<double>(rows.size()) * passes);
  for (int pass = 0; pass < passes; ++pass) {
    for (bench::sweep_row& row : rows) {
      if (bench::interrupted()) return rows;
      line.show(row.choice.name());
      line.step(1);
      if (!row.problem.empty()) continue;
      try {
        bench::add_pass(row, bench::run_sweep_pass(row.choice, folder.target(), bytes));
        if (pass == 0) row.calls_per_mb = bench::system_calls_per_mb(row.choice, folder.target());
      } catch (const bench::unavailable& reason) {
        row.problem = reason.what();
      } catch (const std::exception& error) {
        row.problem = error.what();
        failures.push_back(row.choice.name() + ": " + row.problem);
      }
    }
  }
  return rows;
}

// A process of its own, since the logger's measurements want one that nothing else has run in.
std::string run_logger_bench(const bench::options& chosen, std::vector<std::string>& failures) {
  std::array<char, 4096> self{};
  if (::readlink("/proc/self/exe", self.data(), self.size() - 1) <= 0) return {};
  std::string command = fmt::format("{} bench logger --dir {}", bench::shell_word(self.data()), bench::shell_word(chosen.dir.string()));
  if (chosen.smoke)
    command += " --repeat 1 --records 1000";
  else if (chosen.repeat > 0)
    command += fmt::format(" --repeat {}", chosen.repeat);
  std::FILE* out = ::popen(command.c_str(), "r");
  if (out == nullptr) return {};
  std::string text;
  for (std::array<char, 4096> piece{}; const std::size_t n = std::fread(piece.data(), 1, piece.size(), out);) text.append(piece.data(), n);
  if (::pclose(out) != 0) failures.push_back("bench logger failed; what it said stands above");
  return text;
}

int run_all(const bench::options& chosen, const std::filesystem::path& folder, bool logger_bench) {
  bench::require_gnuplot();
  std::filesystem::create_directories(folder);
  if (const std::string problem = bench::result_file_problem(folder / "index.html"); !problem.empty()) {
    fmt::print(stderr, "penstock: bench all: {}\n", problem);
    return wrong_call;
  }
  const bench::interrupt_watch watch;
  bench::report page{.chosen = chosen, .environment = bench::environment_of(chosen.dir)};
  std::vector<std::string> failures;
  for (const bench::suite_entry& entry : bench::suite_entries()) {
    if (bench::interrupted()) break;
    bench::suite_result result = bench::run(entry.make(chosen), chosen);
    const std::filesystem::path svg = folder / (result.what.name + ".svg");
    if (!result.rows.empty()) bench::draw(result, svg);
    page.pictures.push_back(result.rows.empty() ? std::string() : text_of(svg));
    for (bench::figures& row : bench::published_figures(result.what)) result.rows.push_back(std::move(row));
    failures.insert(failures.end(), result.failures.begin(), result.failures.end());
    page.suites.push_back(std::move(result));
  }
  if (!bench::interrupted()) page.sweep = run_sweep(chosen, failures);
  if (!bench::interrupted() && logger_bench) page.logger_text = run_logger_bench(chosen, failures);
  page.interrupted = bench::interrupted();
  bench::write_file(folder / "index.html", bench::html_page(page));
  bench::write_file(folder / "results.csv", bench::csv_text(page.suites));
  bench::write_file(folder / "sinks.csv", bench::sweep_csv(page.sweep));
  bench::write_file(folder / "results.json", bench::json_text(page.suites, chosen, page.environment));
  fmt::print("{}\n", (folder / "index.html").string());
  for (const std::string& failure : failures) fmt::print(stderr, "penstock: bench all: {}\n", failure);
  return failures.empty() && !page.interrupted ? done : work_failed;
}

}  // namespace

void add_report_bench(CLI::App& bench, bool logger_bench, int& exit_status) {
  CLI::App* command = bench.add_subcommand("all", "everything: one self-contained HTML page, pictures (needs gnuplot), CSV and JSON");
  auto chosen = std::make_shared<bench::options>();
  auto folder = std::make_shared<std::filesystem::path>();
  add_run_options(*command, *chosen);
  command->add_option("--report", *folder, "the folder for index.html and the files beside it; made if need be")
      ->required()
      ->option_text("DIR");
  command->callback([&exit_status, chosen, folder, logger_bench] { exit_status = run_all(*chosen, *folder, logger_bench); });
}

}  // namespace penstock::cli
