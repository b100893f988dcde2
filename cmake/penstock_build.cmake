# SPDX-License-Identifier: MIT
# What every target of the project shares: flags, libraries, places. None of the flags reaches a user's target.
include(GNUInstallDirs)
include(penstock_dependencies)

if(PROJECT_IS_TOP_LEVEL)
  find_program(PENSTOCK_CCACHE ccache)
  mark_as_advanced(PENSTOCK_CCACHE)
  if(PENSTOCK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PENSTOCK_CCACHE})
  endif()
  # An installed tool finds the shared library beside it, wherever the prefix is moved to.
  file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set(CMAKE_INSTALL_RPATH "$ORIGIN/${lib_from_bin}")
endif()

find_package(Threads REQUIRED)
if(NOT TARGET fmt::fmt)
  find_package(fmt 9 REQUIRED)
endif()

add_library(penstock_options INTERFACE)
target_compile_features(penstock_options INTERFACE cxx_std_20)
target_compile_options(penstock_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor
  # g++ 12 sees overlapping copies in std::string's own operator+ (GCC bug 105329).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # .clang-tidy leaves these names to the compiler.
  $<$<CXX_COMPILER_ID:Clang>:-Wreserved-identifier>
  $<$<BOOL:${PENSTOCK_WERROR}>:-Werror>)
target_compile_definitions(penstock_options INTERFACE
  $<$<OR:$<BOOL:${PENSTOCK_ASSERTIONS}>,$<CONFIG:Debug>>:PENSTOCK_ASSERTIONS=1>)
