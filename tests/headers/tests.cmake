# SPDX-License-Identifier: MIT
# Each header that is installed compiles on its own and twice, without exceptions and run-time types, under more warnings than our own; and
# two files that include all of them link; so do statements, which are what makes templates of them. The build is the test; running the
# program says so.
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/include/*.hpp)
set(sources "")
set(everything "")
foreach(header ${public_headers})
  string(MAKE_C_IDENTIFIER ${header} name)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp CONTENT "#include <${header}>\n#include <${header}>\n")
  list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}.cpp)
  string(APPEND everything "#include <${header}>\n")
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/all_1.cpp
  CONTENT "${everything}int other();\nint main() { return other(); }\n")
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/headers/all_2.cpp CONTENT "${everything}int other();\nint other() { return 0; }\n")

add_library(penstock_headers_alone OBJECT ${sources} ${CMAKE_CURRENT_LIST_DIR}/statements.cpp)
add_executable(test_headers ${CMAKE_CURRENT_BINARY_DIR}/headers/all_1.cpp ${CMAKE_CURRENT_BINARY_DIR}/headers/all_2.cpp)
foreach(target penstock_headers_alone test_headers)
  target_link_libraries(${target} PRIVATE penstock::penstock)
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
    -Wold-style-cast -Wfloat-equal -Wundef -Wnon-virtual-dtor -Woverloaded-virtual
    $<$<CXX_COMPILER_ID:GNU>:-Wuseless-cast;-Wduplicated-cond;-Wlogical-op>
    $<$<BOOL:${PENSTOCK_WERROR}>:-Werror>)
endforeach()
add_dependencies(test_headers penstock_headers_alone)
add_test(NAME headers.EachCompilesAloneAndAllLinkTogether COMMAND test_headers)
