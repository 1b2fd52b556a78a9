# Read by ctest when it starts: asks `program` for its suites and adds them. GTEST_FILTER=-A*:B* in the environment
# leaves tests out, as it does where the program is run by hand. `slowness` scales what a test is thought to cost.
if(NOT EXISTS ${program})
  add_test(${program} ${program})  # Fails, and so says that it is not built.
  return()
endif()
execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${program} does not list its tests: ${status}")
endif()
# Values of parameters may have any character, so they go before lines become elements of a list.
string(REGEX REPLACE " +# [^\n]*" "" listed "${listed}")
string(REPLACE "\n" ";" listed "${listed}")
set(left_out "")
if("$ENV{GTEST_FILTER}" MATCHES "-(.*)")
  set(left_out ":${CMAKE_MATCH_1}")
endif()

# Which tests need a GPU, by name: GoogleTest's patterns, and the same as a regular expression.
set(gpu_patterns "Device*:*/Device*:Packed*:*/Packed*:*OnTheGpu*")
set(gpu_names "^([^/.]*/)?(Device|Packed)|OnTheGpu")

set(slow "")
if(slowness GREATER 1)
  set(slow ";slow")
endif()

set(suites "")
foreach(line IN LISTS listed)
  if(line MATCHES "^([^ ].*)\\.$")
    set(suite ${CMAKE_MATCH_1})
    set(${suite}_cpu 0)
    set(${suite}_gpu "")
    list(APPEND suites ${suite})
  elseif(line MATCHES "^  (.+)$")
    set(test "${suite}.${CMAKE_MATCH_1}")
    if(test MATCHES "${gpu_names}")
      list(APPEND ${suite}_gpu "${test}")
    else()
      math(EXPR ${suite}_cpu "${${suite}_cpu} + 1")
    endif()
  endif()
endforeach()

macro(add_suite name filter labels count)
  math(EXPR cost "${count} * ${slowness}")
  add_test("${name}" ${program} --gtest_brief=1 "--gtest_filter=${filter}")
  # The costliest first. Tests run beside each other: waiting threads must not take the cores of working ones.
  set_tests_properties("${name}" PROPERTIES COST ${cost} LABELS "${labels}" ENVIRONMENT OMP_WAIT_POLICY=passive
                                            SKIP_REGULAR_EXPRESSION "PASSED  . 0 tests[.]\n.  SKIPPED")
  # Suites that take all memory of the GPU, say.
  if("${name}" MATCHES "Alone")
    set_tests_properties("${name}" PROPERTIES RUN_SERIAL TRUE)
  endif()
endmacro()

foreach(suite IN LISTS suites)
  if(${suite}_cpu GREATER 0)
    add_suite("${suite}" "${suite}.*-${gpu_patterns}${left_out}" "cpu${slow}" ${${suite}_cpu})
  endif()
  if(${suite}_gpu)
    list(LENGTH ${suite}_gpu count)
    string(REPLACE ";" ":" tests "${${suite}_gpu}")
    if(${suite}_cpu EQUAL 0)
      set(tests "${suite}.*")
    endif()
    add_suite("${suite} (GPU)" "${tests}-${left_out}" "gpu${slow}" ${count})
  endif()
endforeach()
