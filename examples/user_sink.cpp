// SPDX-License-Identifier: MIT
// How does a log go where Penstock has no sink for? By a class of your own, which lends memory and takes it back filled; its type name may
// then stand in a config file.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <penstock/penstock.hpp>

namespace {

std::string delivered;  // stands for a socket, a message queue, a window

class mail_sink final : public penstock::sink {
 public:
  explicit mail_sink(std::size_t batch_bytes) : room_(batch_bytes) {}

  // The backend lays lines out in this memory. `lines`: a batch ends after a whole line.
  penstock::batch lend(penstock::lend_request) noexcept override { return {room_, penstock::cut::lines}; }

  penstock::outcome submit(std::size_t used_bytes) noexcept override {
    delivered.append(reinterpret_cast<const char*>(room_.data()), used_bytes);
    return {};  // a failure is {penstock::errc::io, errno}: then the batch is held, and resume() or abandon() comes next
  }
  penstock::outcome resume() noexcept override { return {}; }
  std::size_t abandon() noexcept override { return 0; }
  penstock::outcome flush() noexcept override { return {}; }
  penstock::outcome sync() noexcept override { return {penstock::errc::unsupported}; }
  penstock::outcome reopen() noexcept override { return {}; }
  penstock::sink_description describe() const override { return {.kind = "mail"}; }

 private:
  std::vector<std::byte> room_;
};

}  // namespace

int main() {
  penstock::register_sink_type("mail", [](const penstock::sink_config& settings) -> std::unique_ptr<penstock::sink> {
    return std::make_unique<mail_sink>(penstock::effective_batch_bytes(settings));
  });
  penstock::start(penstock::parse_config(R"(
[sinks.operators]
type = "mail"
flush_interval = "1 s"
pattern = "{level}: {message}"
)",
                                         "mail.toml"));

  PENSTOCK_INFO("the pump runs");
  PENSTOCK_ERROR("the pump stands");
  if (!penstock::flush()) return 1;
  std::printf("%s", delivered.c_str());
  for (const penstock::sink_stats& sink : penstock::stats().sinks)
    std::printf("%s (%s): %llu lines\n", sink.name.c_str(), sink.type.c_str(), static_cast<unsigned long long>(sink.written.total()));
  return penstock::stop() ? 0 : 1;
}

//> info: the pump runs
//> error: the pump stands
//> operators (mail): 2 lines
