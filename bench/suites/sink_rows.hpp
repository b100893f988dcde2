// SPDX-License-Identifier: MIT
// Penstock's sinks as rows: driven directly, by the same lend and submit that the backend uses.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <penstock/config.hpp>
#include <penstock/sink.hpp>

#include "bench/suites/suite.hpp"

namespace penstock::bench {

/// Fills what a sink lends and submits it when it is full, as the backend does.
///
/// Errors: std::system_error when a submit or flush fails for good.
class sink_writer {
 public:
  explicit sink_writer(sink& destination) : sink_(destination) {}

  /// A record stays whole in its batch where the sink asks for that.
  void write(std::span<const std::byte> record);
  /// Any bytes: divided wherever the batch ends. Cheaper for bulk data than write().
  void stream(std::span<const std::byte> data);
  /// Room of at least one byte to fill in place; give it back by filled().
  std::span<std::byte> room();
  void filled(std::size_t bytes);
  /// Where the batch whose room() was given may end.
  cut end() const noexcept { return batch_.end; }
  /// Submits what is filled, full or not, and gives the room of the next batch.
  std::span<std::byte> next_room();
  /// Submits the rest and waits until all is with the kernel.
  void finish();

 private:
  void submit();
  void copy_in(std::span<const std::byte> data);

  sink& sink_;
  batch batch_{};
  std::size_t used_bytes_ = 0;
};

/// A sink that is worth a row: its type and batch size.
struct sink_choice {
  std::string type;
  std::size_t batch_bytes;
  std::string row;  ///< "sink write 256 KiB", "sink mmap_ring 64 KiB, keeps the last 64 MiB"
};

/// The five file sinks at 64 KiB, 256 KiB and 1 MiB; one size in a smoke run. Empty under `in-place`: sinks append.
std::vector<sink_choice> sink_choices(const options& chosen);

/// The size of the ring file that ring rows use, in bytes.
inline constexpr std::size_t ring_file_bytes = std::size_t{64} << 20;

/// Opens the sink on a file, with the file policy applied. io_uring is strict: a fallback would be measured under the wrong name.
///
/// Errors: unavailable, if the sink is not built in or the kernel refuses it.
std::unique_ptr<sink> open_sink(const sink_choice& choice, const pass& the_pass);

/// The rows of one column: `produce` pushes the column's bytes into the writer.
void add_sink_rows(column& size, const options& chosen, const std::function<void(sink_writer&, const pass&)>& produce);

/// Why a ring is not as expected; empty: its frames hold the end of the column's stream, and at least as much as a ring should keep.
std::string check_ring(const std::filesystem::path& file, const column& size);

/// "64 KiB", "1 MiB".
std::string size_text(std::size_t bytes);

}  // namespace penstock::bench
