# SPDX-License-Identifier: MIT
penstock_tests(config penstock_config penstock_sinks penstock_os)
target_compile_definitions(test_config PRIVATE PENSTOCK_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
