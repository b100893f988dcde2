# SPDX-License-Identifier: MIT
# The suites run as a library, in their smoke form; then the tool itself, as a user calls it.
if(TARGET penstock_suites)
  penstock_tests(bench penstock_suites penstock_sinks penstock_os penstock_core penstock_config)
  foreach(suite japm copy buffer mapped sequential)
    foreach(file new truncate in-place)
      add_test(NAME tool_bench_${suite}_${file} COMMAND penstock_tool bench ${suite} --smoke --dir ${CMAKE_CURRENT_BINARY_DIR} --file ${file})
    endforeach()
  endforeach()
  if(PENSTOCK_BENCHES)
    add_test(NAME micro_benches_run COMMAND penstock_micro --benchmark_min_time=0.001 WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    add_test(NAME tool_bench_sinks COMMAND penstock_tool bench sinks --smoke --dir ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  find_program(PENSTOCK_GNUPLOT gnuplot)
  if(PENSTOCK_GNUPLOT)
    add_test(NAME tool_bench_all COMMAND sh -c "\"$1\" bench all --smoke --dir \"$2\" --report \"$2/report\" && grep -q '</svg>' \"$2/report/index.html\""
      report $<TARGET_FILE:penstock_tool> ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  # What tune prints is what config --check accepts.
  add_test(NAME tool_tune COMMAND sh -c "\"$1\" tune --dir \"$2\" --time 1 --bytes 1MiB > \"$2/tuned.toml\" && \"$1\" config --check \"$2/tuned.toml\""
    tune $<TARGET_FILE:penstock_tool> ${CMAKE_CURRENT_BINARY_DIR})
  add_test(NAME tool_refuses_an_unknown_policy COMMAND sh -c "\"$1\" bench japm --file sideways; test $? -eq 2" refuse $<TARGET_FILE:penstock_tool>)
  add_test(NAME tool_refuses_an_unknown_command COMMAND sh -c "\"$1\" benhc; test $? -eq 2" refuse $<TARGET_FILE:penstock_tool>)
  add_test(NAME tool_leaves_nothing_after_an_interrupt COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/interrupt.sh $<TARGET_FILE:penstock_tool>)
endif()
