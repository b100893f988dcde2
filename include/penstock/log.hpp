// SPDX-License-Identifier: MIT
// What a file that logs includes: loggers, macros, the macro-free API.
#pragma once

#include <penstock/logger.hpp>
#include <penstock/macros.hpp>

namespace penstock::detail {

/// Records point at the call sites of the module that logged them: before a module goes (dlclose, exit) its records are written.
PENSTOCK_EXPORT void module_unloading() noexcept;

struct module_guard {
  ~module_guard() { module_unloading(); }
};
/// One object a module.
__attribute__((visibility("hidden"))) inline const module_guard guard_of_this_module{};

}  // namespace penstock::detail
