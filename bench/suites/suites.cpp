// SPDX-License-Identifier: MIT
#include "bench/suites/suites.hpp"

namespace penstock::bench {

const std::vector<suite_entry>& suite_entries() {
  static const std::vector<suite_entry> entries{
      {"japm", "log writers: 1000 records of 1 000 to 50 000 bytes", japm_suite},
      {"copy", "a 232 MiB file copied by each API", copy_suite},
      {"buffer", "a 100 MiB file copied with buffers of several sizes", buffer_suite},
      {"mapped", "integers through a stream against a mapped file", mapped_suite},
      {"sequential", "10 MB to 1 GB written and read from front to end", sequential_suite},
  };
  return entries;
}

}  // namespace penstock::bench
