// SPDX-License-Identifier: MIT
// What the shared library shows; everything else is hidden.
#pragma once

#define PENSTOCK_EXPORT __attribute__((visibility("default")))
