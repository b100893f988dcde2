// SPDX-License-Identifier: MIT
// `penstock replay LOG…`: sends each line of real log files through the logger, and compares what came out.
#pragma once

#include "bench/cli/commands.hpp"
