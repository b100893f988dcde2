// SPDX-License-Identifier: MIT
// `penstock config` checks a config file, prints all defaults, or prints what a file comes to.
#pragma once

#include "bench/cli/commands.hpp"
