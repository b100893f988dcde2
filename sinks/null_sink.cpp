// SPDX-License-Identifier: MIT
// `null`: lends memory and throws the bytes away. It shows what everything before the sinks costs.
#include "sinks/batch_sink.hpp"
#include "sinks/factory.hpp"

namespace penstock::sinks {
namespace {

class null_sink final : public batch_sink {
 public:
  explicit null_sink(std::size_t batch_bytes) : batch_sink(batch_bytes, cut::pages) {}
  explicit null_sink(os::batch_buffer memory) noexcept : batch_sink(std::move(memory), cut::pages) {}

  outcome sync() noexcept override { return {}; }
  outcome reopen() noexcept override { return {}; }
  std::unique_ptr<sink> retire() noexcept override { return std::unique_ptr<sink>(new (std::nothrow) null_sink(take_memory())); }
  sink_description describe() const override { return {"null", {}}; }

 private:
  os::write_result put(std::span<const std::byte> data) noexcept override { return {data.size(), {}}; }
};

}  // namespace

std::unique_ptr<sink> make_null_sink(const sink_config& settings) { return std::make_unique<null_sink>(effective_batch_bytes(settings)); }

}  // namespace penstock::sinks
