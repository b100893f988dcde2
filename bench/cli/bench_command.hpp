// SPDX-License-Identifier: MIT
// `penstock bench`: the published comparisons and Penstock's own measurements.
#pragma once

#include "bench/cli/commands.hpp"
