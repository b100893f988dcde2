# SPDX-License-Identifier: MIT
# The built tool, called as a user calls it.
if(PENSTOCK_TOOL)
  penstock_tests(tool penstock_measure penstock_os penstock_sinks penstock_config)
  add_dependencies(test_tool penstock_tool)
  target_compile_definitions(test_tool PRIVATE PENSTOCK_TOOL_FILE="$<TARGET_FILE:penstock_tool>")
endif()
