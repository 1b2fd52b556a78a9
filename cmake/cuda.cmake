# The GPU part: TESSERA_HAS_CUDA says whether it is built, tessera_add_cuda_sources(TARGET FILE...) adds device code.
set(TESSERA_HAS_CUDA OFF)
if(NOT TESSERA_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    include(cmake/cuda_architectures.cmake)
    tessera_cuda_architectures(tessera_architectures)
    set(CMAKE_CUDA_ARCHITECTURES "${tessera_architectures}" CACHE STRING "GPU architectures, as CMake names them")
    enable_language(CUDA)
    find_package(CUDAToolkit 12.4 REQUIRED)
    # CMake 3.25 does not know by itself that nvcc takes C++20.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    set(TESSERA_HAS_CUDA ON)
  elseif(TESSERA_CUDA STREQUAL "ON")
    message(FATAL_ERROR "TESSERA_CUDA=ON, but no CUDA compiler was found: put nvcc on the PATH or set CUDACXX")
  endif()
endif()
if(TESSERA_HAS_CUDA)
  message(STATUS "GPU code: CUDA ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
  set(tessera_has_cuda true)
else()
  message(STATUS "GPU code: none (TESSERA_CUDA=${TESSERA_CUDA}, no CUDA compiler)")
  set(tessera_has_cuda false)
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/solvers/configuration.hpp @ONLY CONTENT
[[#pragma once

namespace tessera {

/// Whether this build has the GPU code. Where it has not, device functions are declared but not
/// defined: uses stand behind `if constexpr (kHasCuda)`.
inline constexpr bool kHasCuda = @tessera_has_cuda@;

}  // namespace tessera
]])

function(tessera_add_cuda_sources target)
  if(NOT TESSERA_HAS_CUDA)
    return()
  endif()
  target_sources(${target} PRIVATE ${ARGN})
  # Warnings of the host compiler, too; -Wpedantic would complain of nvcc's own line markers.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:--extended-lambda --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra>)
  if(TESSERA_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--Werror=all-warnings>)
  endif()
  target_link_libraries(${target} PUBLIC CUDA::cudart_static)
endfunction()
