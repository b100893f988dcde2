// SPDX-License-Identifier: MIT
// A module that logs and is unloaded: its call sites and their texts go with it.
#include <penstock/log.hpp>

extern "C" __attribute__((visibility("default"))) void log_from_module(int count) {
  for (int i = 0; i < count; ++i) PENSTOCK_INFO("from " MODULE_NAME " {} {}", i, MODULE_NAME);
}
