# SPDX-License-Identifier: MIT
# On its own, not by penstock_tests: it links nothing of ours, so that it still tells what is wrong when the library does not build.
file(GLOB tidy_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/*.cpp)
add_executable(test_tidy ${tidy_sources})
target_include_directories(test_tidy PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_definitions(test_tidy PRIVATE PENSTOCK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
target_link_libraries(test_tidy PRIVATE penstock_options GTest::gmock GTest::gtest_main)
gtest_discover_tests(test_tidy DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT ${penstock_test_seconds_max})
