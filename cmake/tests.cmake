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
# tessera_add_mpi_command(NAME COUNT COMMAND...): a command that MPI's launcher starts as so many processes. There may be
# fewer cores than processes, and CI may be root in a container: what Open MPI wants to hear then is in
# TESSERA_MPIEXEC_FLAGS, and other launchers have flags of their own.
# tessera_add_mpi_tests(TARGET COUNT...): the same of a GoogleTest program, a test of ctest for each number of processes.
set(TESSERA_MPIEXEC_FLAGS "--oversubscribe;--allow-run-as-root;--bind-to;none" CACHE STRING
    "Flags of the launcher for tests, Open MPI's by default")
function(tessera_add_mpi_command name count)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${count} ${MPIEXEC_PREFLAGS}
                                ${TESSERA_MPIEXEC_FLAGS} ${ARGN} ${MPIEXEC_POSTFLAGS})
  # In containers a process may not read another one's memory, which Open MPI would try.
  set_tests_properties(${name} PROPERTIES PROCESSORS 2 TIMEOUT 120 LABELS "cpu;mpi" ENVIRONMENT
    "OMP_NUM_THREADS=1;OMP_WAIT_POLICY=passive;OMPI_MCA_btl_vader_single_copy_mechanism=none")
endfunction()
function(tessera_add_mpi_tests target)
  foreach(count IN LISTS ARGN)
    tessera_add_mpi_command(${target}.${count}Processes ${count} $<TARGET_FILE:${target}> --gtest_brief=1)
  endforeach()
endfunction()
