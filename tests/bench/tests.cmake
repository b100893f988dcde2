# SPDX-License-Identifier: MIT
# The suites run as a library, in their smoke form; then the tool itself, as a user calls it.
if(TARGET penstock_suites)
  penstock_tests(bench penstock_suites penstock_sinks penstock_os penstock_core penstock_config)
  # g++ 12 takes the strings of aggregates that a test writes out for uninitialised ones (GCC bug 105562).
  target_compile_options(test_bench PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  set(tool $<TARGET_FILE:penstock_tool>)
  set(work ${CMAKE_CURRENT_BINARY_DIR})
  foreach(suite japm copy buffer mapped sequential)
    foreach(file new truncate in-place)
      add_test(NAME tool_bench_${suite}_${file}
        COMMAND penstock_tool bench ${suite} --smoke --dir ${work} --file ${file})
    endforeach()
  endforeach()
  if(PENSTOCK_BENCHES)
    add_test(NAME tool_bench_sinks COMMAND penstock_tool bench sinks --smoke --dir ${work})
    add_test(NAME tool_bench_sinks_limits COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/limits.sh ${tool} ${work})
    add_test(NAME micro_benches_run COMMAND penstock_micro --benchmark_min_time=0.001 WORKING_DIRECTORY ${work})
  endif()
  add_test(NAME tool_bench_rotation
    COMMAND penstock_tool bench rotation --sink write,pwrite,stdio --milliseconds 50 --repeat 1 --dir ${work})
  find_program(PENSTOCK_GNUPLOT gnuplot)
  if(PENSTOCK_GNUPLOT)
    add_test(NAME tool_bench_all COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/report.sh ${tool} ${work})
  endif()
  add_test(NAME tool_tune COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/tune.sh ${tool} ${work})
  add_test(NAME tool_leaves_nothing_after_an_interrupt COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/interrupt.sh ${tool})
  add_test(NAME tool_refuses_wrong_calls COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/wrong_calls.sh ${tool})
endif()
# The script needs no more than compilers; it knows nothing of the tool.
add_test(NAME bench_cost COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/bench/cost_call.sh ${PROJECT_SOURCE_DIR}/bench/cost.sh)
