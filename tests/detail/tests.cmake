# SPDX-License-Identifier: MIT
penstock_tests(detail fmt::fmt)
target_include_directories(test_detail PRIVATE ${PROJECT_SOURCE_DIR}/include)
