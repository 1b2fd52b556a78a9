# tessera_cpu_check: objects that stop the program, with a sentence instead of SIGILL, on a CPU that lacks what the
# build was allowed to use. tessera_add_cpu_check(NAME FEATURE...) makes such a target for any list of features.

# What the compiler may use with the flags of this build, in the words of __builtin_cpu_supports.
function(tessera_enabled_cpu_features result)
  set(${result} "" PARENT_SCOPE)
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i.86)$")
    return()
  endif()
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  if(TESSERA_ARCH)
    list(APPEND flags -march=${TESSERA_ARCH})
  endif()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} -dM -E -x c++ /dev/null
                  OUTPUT_VARIABLE macros ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "TESSERA_ARCH=${TESSERA_ARCH}: the compiler does not take it\n${errors}")
  endif()
  # Those that a compiler uses on its own for loops and arithmetic; the others need intrinsics.
  foreach(name SSE3 SSSE3 SSE4_1 SSE4_2 POPCNT AVX AVX2 FMA BMI BMI2 AVX512F AVX512CD AVX512VL AVX512BW AVX512DQ
               AVX512IFMA AVX512VBMI AVX512VBMI2 AVX512VNNI AVX512BITALG AVX512VPOPCNTDQ)
    if(macros MATCHES "#define __${name}__ 1\n")
      string(TOLOWER ${name} feature)
      string(REPLACE "_" "." feature ${feature})
      list(APPEND features ${feature})
    endif()
  endforeach()
  set(${result} ${features} PARENT_SCOPE)
endfunction()

function(tessera_add_cpu_check target)
  set(checks "")
  foreach(feature IN LISTS ARGN)
    string(APPEND checks " CHECK(\"${feature}\")")
  endforeach()
  set(directory ${PROJECT_BINARY_DIR}/cpu_features/${target})
  file(CONFIGURE OUTPUT ${directory}/cpu_features.hpp @ONLY CONTENT
       "#pragma once\n\n#define TESSERA_FOR_EACH_CPU_FEATURE(CHECK)@checks@\n")
  add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/src/machine/cpu_check.cpp)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${directory})
  target_link_libraries(${target} PRIVATE tessera_warnings)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    # After CMAKE_CXX_FLAGS, so that it has the last word: this file must run everywhere.
    target_compile_options(${target} PRIVATE -march=x86-64)
  endif()
endfunction()

tessera_enabled_cpu_features(TESSERA_CPU_FEATURES)
tessera_add_cpu_check(tessera_cpu_check ${TESSERA_CPU_FEATURES})
