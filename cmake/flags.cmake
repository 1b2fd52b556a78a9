# What every part of Tessera is compiled with, as interface targets.
add_library(tessera_warnings INTERFACE)
set(tessera_cxx $<COMPILE_LANGUAGE:CXX>)
target_compile_options(tessera_warnings INTERFACE
  $<${tessera_cxx}:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion>)
# Cells are the lanes of a SIMD vector: passing 64-byte vectors by value inside one build is what we want.
target_compile_options(tessera_warnings INTERFACE $<${tessera_cxx}:-Wno-psabi>)
# GCC 12 sees overlapping copies in "text" + std::string (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(tessera_warnings INTERFACE $<${tessera_cxx}:-Wno-restrict>)
endif()
if(TESSERA_WERROR)
  target_compile_options(tessera_warnings INTERFACE $<${tessera_cxx}:-Werror>)
endif()

add_library(tessera_flags INTERFACE)
target_include_directories(tessera_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(tessera_flags INTERFACE tessera_warnings OpenMP::OpenMP_CXX)
if(TESSERA_ARCH)
  target_compile_options(tessera_flags INTERFACE $<${tessera_cxx}:-march=${TESSERA_ARCH}>)
endif()
# The default is in operators/cells/cell_kernel_limits.hpp.
if(TESSERA_UNROLLED_DEGREES)
  target_compile_definitions(tessera_flags INTERFACE TESSERA_UNROLLED_DEGREES=${TESSERA_UNROLLED_DEGREES})
endif()
if(TESSERA_SANITIZE)
  # More than half of the time to compile goes into checks of each pointer: for null, for the size of objects and for an
  # overflow, which the address sanitizer sees by what is read then, for alignment, which x86 does not need, and for the
  # type behind it.
  target_compile_options(tessera_flags INTERFACE
    $<${tessera_cxx}:-fsanitize=${TESSERA_SANITIZE} -fno-sanitize=null,object-size,pointer-overflow,alignment,vptr
                     -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(tessera_flags INTERFACE -fsanitize=${TESSERA_SANITIZE})
endif()
