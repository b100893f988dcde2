# SPDX-License-Identifier: MIT
# The flags that every target of the project shares; none of them reaches a user's target.
find_program(PENSTOCK_CCACHE ccache)
if(PENSTOCK_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PENSTOCK_CCACHE})
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

add_library(penstock_options INTERFACE)
target_compile_features(penstock_options INTERFACE cxx_std_20)
target_compile_options(penstock_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wnon-virtual-dtor
  $<$<BOOL:${PENSTOCK_WERROR}>:-Werror>)
