# tessera_add_tests(TARGET): makes the suites of a GoogleTest program known to ctest, a process each. A process for each
# test would spend most of its time on starting. Those tests of a suite that need a GPU are a test of ctest of their
# own, "(GPU)", with the label `gpu`: `ctest --preset test -L gpu`.
function(tessera_add_tests target)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  file(GENERATE OUTPUT ${file} CONTENT
       "set(program \"$<TARGET_FILE:${target}>\")\ninclude(\"${PROJECT_SOURCE_DIR}/cmake/test_suites.cmake\")\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${file})
endfunction()
