// SPDX-License-Identifier: MIT
// How fast the machine itself was while a suite ran: what its figures can be compared with, and until when.
#pragma once

#include <string>
#include <vector>

namespace penstock::bench {

/// Three small loops that no row depends on: a copy in memory, a system call, new pages. On a machine that is shared, a neighbour shows in
/// them as it shows in the rows.
class machine_speed {
 public:
  /// Runs each loop once, about 3 ms in all.
  void probe();

  /// One sentence with the median, least and greatest of each; empty before the first probe().
  std::string text() const;

 private:
  std::vector<double> copy_gb_per_s_;
  std::vector<double> call_ns_;
  std::vector<double> page_ns_;
};

}  // namespace penstock::bench
