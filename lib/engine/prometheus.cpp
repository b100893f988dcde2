// SPDX-License-Identifier: MIT
// The two ledgers in the Prometheus text format.
#include <string>
#include <string_view>

#include <penstock/penstock.hpp>

namespace penstock {

namespace {

constexpr std::string_view reason_names[] = {"overflow", "timeout", "backend_quota", "stopping"};

void head(std::string& out, std::string_view name, std::string_view kind, std::string_view help) {
  out.append("# HELP ").append(name).append(" ").append(help).append("\n# TYPE ").append(name).append(" ").append(kind).append("\n");
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

void sample(std::string& out, std::string_view name, std::string_view labels, const std::string& value) {
  out.append(name);
  if (!labels.empty()) out.append("{").append(labels).append("}");
  out.append(" ").append(value).append("\n");
}

void sample(std::string& out, std::string_view name, std::string_view labels, std::uint64_t value) {
  sample(out, name, labels, std::to_string(value));
}

void by_level(std::string& out, std::string_view name, const std::string& labels, const level_counts& counts) {
  for (std::size_t i = 0; i < level_count; ++i)
    sample(out, name, labels + (labels.empty() ? "" : ",") + "level=" + in_quotes(name_of(static_cast<level>(i))), counts.at[i]);
}

void put_sinks(std::string& out, std::string_view name, std::string_view kind, std::string_view help, const stats_snapshot& now,
               std::uint64_t (*value)(const sink_stats&)) {
  head(out, name, kind, help);
  for (const sink_stats& sink : now.sinks) sample(out, name, "sink=" + in_quotes(sink.name) + ",type=" + in_quotes(sink.type), value(sink));
}

void put_sink_levels(std::string& out, std::string_view name, std::string_view kind, std::string_view help, const stats_snapshot& now,
                     level_counts sink_stats::*counts) {
  head(out, name, kind, help);
  for (const sink_stats& sink : now.sinks) by_level(out, name, "sink=" + in_quotes(sink.name), sink.*counts);
}

void put_latency(std::string& out, const stats_snapshot& now) {
  constexpr std::string_view name = "penstock_sink_submit_seconds";
  head(out, name, "histogram", "Time that handing a batch over took.");
  for (const sink_stats& sink : now.sinks) {
    const std::string label = "sink=" + in_quotes(sink.name);
    std::uint64_t sum = 0;
    double bound_seconds = 1e-9;
    for (std::size_t i = 0; i < sink.submit_latency.below_power_of_two.size(); ++i, bound_seconds *= 2) {
      sum += sink.submit_latency.below_power_of_two[i];
      if (i < 10 || i > 33) continue;  // 1 us to 9 s; the rest is in +Inf.
      sample(out, std::string(name) + "_bucket", label + ",le=\"" + std::to_string(bound_seconds) + "\"", sum);
    }
    sample(out, std::string(name) + "_bucket", label + ",le=\"+Inf\"", sum);
    sample(out, std::string(name) + "_sum", label, std::to_string(static_cast<double>(sink.submit_latency.sum_ns) * 1e-9));
    sample(out, std::string(name) + "_count", label, sum);
  }
}

}  // namespace

std::string prometheus_text() {
  const stats_snapshot now = stats();
  std::string out;
  head(out, "penstock_records_accepted_total", "counter", "Records that passed the level test.");
  by_level(out, "penstock_records_accepted_total", "", now.front.accepted);
  head(out, "penstock_records_taken_total", "counter", "Records that the backend has read.");
  by_level(out, "penstock_records_taken_total", "", now.front.taken);
  head(out, "penstock_records_dropped_total", "counter", "Records dropped before the backend, by reason.");
  for (std::size_t i = 0; i < drop_reason_count; ++i)
    by_level(out, "penstock_records_dropped_total", "reason=" + in_quotes(reason_names[i]), now.front.dropped[i]);
  head(out, "penstock_records_queued", "gauge", "Records between the callers and the backend.");
  sample(out, "penstock_records_queued", "", now.front.queued);
  head(out, "penstock_records_late_total", "counter", "Records written later than the reorder window allows for.");
  sample(out, "penstock_records_late_total", "", now.front.late);
  head(out, "penstock_records_cut_short_total", "counter", "Records that were too long and were cut.");
  sample(out, "penstock_records_cut_short_total", "", now.front.cut_short);
  head(out, "penstock_threads", "gauge", "Threads that have logged and are alive.");
  sample(out, "penstock_threads", "", now.threads);
  head(out, "penstock_memory_bytes", "gauge", "Record memory in use.");
  sample(out, "penstock_memory_bytes", "", now.memory_bytes);
  head(out, "penstock_memory_budget_bytes", "gauge", "The memory budget.");
  sample(out, "penstock_memory_budget_bytes", "", now.memory_budget_bytes);
  put_sink_levels(out, "penstock_sink_records_taken_total", "counter", "Records laid out for the sink.", now, &sink_stats::taken);
  put_sink_levels(out, "penstock_sink_records_written_total", "counter", "Records accepted by the kernel.", now, &sink_stats::written);
  put_sink_levels(out, "penstock_sink_records_lost_total", "counter", "Records given up.", now, &sink_stats::lost);
  put_sink_levels(out, "penstock_sink_records_held", "gauge", "Records in the open batch, in flight or held after an error.", now,
                  &sink_stats::held);
  put_sinks(out, "penstock_sink_bytes_total", "counter", "Bytes written.", now, [](const sink_stats& s) { return s.bytes; });
  put_sinks(out, "penstock_sink_batches_total", "counter", "Batches handed over.", now, [](const sink_stats& s) { return s.batches; });
  put_sinks(out, "penstock_sink_errors_total", "counter", "Failed calls.", now, [](const sink_stats& s) { return s.errors; });
  put_sinks(out, "penstock_sink_disabled", "gauge", "1: the sink was given up.", now,
            [](const sink_stats& s) { return std::uint64_t{s.disabled ? 1U : 0U}; });
  put_latency(out, now);
  return out;
}

}  // namespace penstock
