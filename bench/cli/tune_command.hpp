// SPDX-License-Identifier: MIT
// `penstock tune` measures a folder and prints the sink table that suits it.
#pragma once

#include "bench/cli/commands.hpp"
