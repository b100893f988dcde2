// SPDX-License-Identifier: MIT
// A file that only logs.
#include <penstock/log.hpp>

void work(int worker);

void work(int worker) { PENSTOCK_INFO("worker {} at work", worker); }
