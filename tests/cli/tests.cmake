# SPDX-License-Identifier: MIT
if(PENSTOCK_TOOL)
  find_package(CLI11 REQUIRED)
  penstock_tests(cli penstock_sinks penstock_os penstock_config CLI11::CLI11)
  target_sources(test_cli PRIVATE ${PROJECT_SOURCE_DIR}/bench/cli/ring_command.cpp)
endif()
