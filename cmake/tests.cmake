# tessera_add_tests(TARGET [SLOWNESS]): makes the suites of a GoogleTest program known to ctest, a process each. A process for each
# test would spend most of its time on starting. Those tests of a suite that need a GPU are a test of ctest of their
# own, "(GPU)", with the label `gpu`: `ctest --preset test -L gpu`. Suites of many tests start first; SLOWNESS says how much
# longer than others' these tests take, on the whole; above 1 they have the label `slow`. Suites with "Alone" in their name run
# without others beside them.
function(tessera_add_tests target)
  set(slowness 1)
  if(ARGC GREATER 1)
    set(slowness ${ARGV1})
  endif()
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  file(GENERATE OUTPUT ${file} CONTENT
       "set(program \"$<TARGET_FILE:${target}>\")\nset(slowness ${slowness})\ninclude(\"${PROJECT_SOURCE_DIR}/cmake/test_suites.cmake\")\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()
