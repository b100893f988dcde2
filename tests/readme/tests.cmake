# SPDX-License-Identifier: MIT
# The README shows examples/service.cpp as it is, and what it prints.
if(PENSTOCK_EXAMPLES)
  add_executable(test_readme ${CMAKE_CURRENT_LIST_DIR}/readme_test.cpp)
  target_include_directories(test_readme PRIVATE ${PROJECT_SOURCE_DIR})
  target_compile_definitions(test_readme PRIVATE PENSTOCK_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    PENSTOCK_EXAMPLES_DIR="${PROJECT_BINARY_DIR}/examples")
  target_link_libraries(test_readme PRIVATE penstock_options GTest::gtest_main)
  gtest_discover_tests(test_readme DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT ${penstock_test_seconds_max})
endif()
