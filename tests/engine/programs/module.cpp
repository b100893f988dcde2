// SPDX-License-Identifier: MIT
// A module that logs and is unloaded: its call sites and their texts go with it.
#include <penstock/log.hpp>

// A function of another name in each module, on the same line.
static void MODULE_FUNCTION(int i) { PENSTOCK_INFO("from " MODULE_NAME " {} {}", i, MODULE_NAME); }

extern "C" __attribute__((visibility("default"))) void log_from_module(int count) {
  for (int i = 0; i < count; ++i) MODULE_FUNCTION(i);
}
