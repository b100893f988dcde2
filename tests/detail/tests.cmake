# SPDX-License-Identifier: MIT
penstock_tests(detail penstock)
target_include_directories(test_detail PRIVATE ${PROJECT_SOURCE_DIR}/include)
