// SPDX-License-Identifier: MIT
// A global that is built before main() uses a logger, in a file of its own so that both link orders exist; logs when it is destroyed.
#include <cstring>

#include <penstock/penstock.hpp>

#include "tests/engine/programs/statics.hpp"

namespace {

struct early {
  ~early() {
    if (!statics_log) return;
    for (int i = 0; i < 3; ++i) PENSTOCK_INFO("early static {}", i);
    penstock::flush();
    penstock::stop();
    PENSTOCK_INFO("early static {}", 3);
  }
};
const early object;

}  // namespace

bool statics_log = false;
