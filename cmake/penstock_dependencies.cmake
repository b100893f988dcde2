# SPDX-License-Identifier: MIT
# The C libraries below a static libpenstock, as imported targets. The build and the installed package both find them by this file, so that
# no path of the building machine is written into the package.

# penstock_c_library(<target> <header> <library> <package>): penstock::<target>, from Debian's <package>.
function(penstock_c_library target header library package)
  if(TARGET penstock::${target})
    return()
  endif()
  string(TOUPPER ${target} upper)
  find_path(PENSTOCK_${upper}_INCLUDE_DIR ${header})
  find_library(PENSTOCK_${upper}_LIBRARY ${library})
  mark_as_advanced(PENSTOCK_${upper}_INCLUDE_DIR PENSTOCK_${upper}_LIBRARY)
  if(NOT PENSTOCK_${upper}_INCLUDE_DIR OR NOT PENSTOCK_${upper}_LIBRARY)
    message(FATAL_ERROR "penstock: ${header} and lib${library} are not installed; try: apt-get install ${package}")
  endif()
  add_library(penstock::${target} UNKNOWN IMPORTED)
  set_target_properties(penstock::${target} PROPERTIES
    IMPORTED_LOCATION "${PENSTOCK_${upper}_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${PENSTOCK_${upper}_INCLUDE_DIR}")
endfunction()
