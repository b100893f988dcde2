// SPDX-License-Identifier: MIT
// Whether the globals of the scenario program log while they are destroyed.
#pragma once

extern bool statics_log;
