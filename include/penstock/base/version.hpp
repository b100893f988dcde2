// SPDX-License-Identifier: MIT
// The version of these headers. CMake, the package files and the tool read it from here.
#pragma once

#define PENSTOCK_VERSION "0.1.0"
