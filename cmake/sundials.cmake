# SUNDIALS, which makes time steps and solves non-linear systems: the target tessera_sundials, of ARKODE, CVODE and KINSOL.
#
# Debian's libsundials-dev depends on MPI, PETSc, hypre and a Fortran compiler, which these do not use; so
# `.ci/install_packages` unpacks its headers and static libraries in .cache/libsundials-dev. An installed SUNDIALS, or one
# below SUNDIALS_ROOT or CMAKE_PREFIX_PATH, comes first. Each library has the parts that all of SUNDIALS shares, the same
# ones, of which the linker takes those of the first that has them.
set(tessera_sundials_root ${PROJECT_SOURCE_DIR}/.cache/libsundials-dev/usr)
set(tessera_sundials_hints HINTS ${SUNDIALS_ROOT} PATHS ${tessera_sundials_root})
find_path(TESSERA_SUNDIALS_INCLUDE_DIR arkode/arkode_arkstep.h ${tessera_sundials_hints} PATH_SUFFIXES include)
foreach(library arkode cvode kinsol)
  find_library(TESSERA_SUNDIALS_${library} sundials_${library} ${tessera_sundials_hints}
               PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE})
  mark_as_advanced(TESSERA_SUNDIALS_${library})
endforeach()
mark_as_advanced(TESSERA_SUNDIALS_INCLUDE_DIR)
if(NOT TESSERA_SUNDIALS_INCLUDE_DIR OR NOT TESSERA_SUNDIALS_arkode OR NOT TESSERA_SUNDIALS_cvode OR NOT TESSERA_SUNDIALS_kinsol)
  message(FATAL_ERROR "SUNDIALS: its ARKODE, CVODE and KINSOL are not found: run .ci/install_packages, or name their place by SUNDIALS_ROOT")
endif()

# Names of functions and what they take change between the major versions.
file(STRINGS ${TESSERA_SUNDIALS_INCLUDE_DIR}/sundials/sundials_config.h tessera_sundials_version
     REGEX "#define SUNDIALS_VERSION \"")
string(REGEX REPLACE ".*\"(.*)\".*" "\\1" tessera_sundials_version "${tessera_sundials_version}")
if(tessera_sundials_version VERSION_LESS 6.4 OR tessera_sundials_version VERSION_GREATER_EQUAL 7)
  message(FATAL_ERROR "SUNDIALS: version 6.4 or later of 6 is needed, ${TESSERA_SUNDIALS_INCLUDE_DIR} has ${tessera_sundials_version}")
endif()

add_library(tessera_sundials INTERFACE)
target_include_directories(tessera_sundials SYSTEM INTERFACE ${TESSERA_SUNDIALS_INCLUDE_DIR})
target_link_libraries(tessera_sundials INTERFACE ${TESSERA_SUNDIALS_arkode} ${TESSERA_SUNDIALS_cvode} ${TESSERA_SUNDIALS_kinsol}
                      m)
message(STATUS "SUNDIALS: ${tessera_sundials_version}, ${TESSERA_SUNDIALS_arkode}")
