# tessera_cuda_architectures(RESULT): the compute capabilities to make device code for, as CMAKE_CUDA_ARCHITECTURES takes
# them: those of the GPUs of this machine, else a list that serves all data center GPUs since Ampere.

# GPUs that Tessera's device code runs on have at least this compute capability.
set(TESSERA_LEAST_CUDA_ARCHITECTURE 80)

function(tessera_cuda_architectures result)
  # Machine code for Ampere and Hopper; later GPUs compile the PTX of the last when a program starts.
  set(${result} "80-real;90" PARENT_SCOPE)
  find_program(TESSERA_NVIDIA_SMI nvidia-smi)
  mark_as_advanced(TESSERA_NVIDIA_SMI)
  if(NOT TESSERA_NVIDIA_SMI)
    return()
  endif()
  execute_process(COMMAND ${TESSERA_NVIDIA_SMI} --query-gpu=compute_cap --format=csv,noheader
                  OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE status TIMEOUT 30)
  if(NOT status EQUAL 0)
    return()
  endif()
  execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-arch OUTPUT_VARIABLE known ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]+" capabilities "${capabilities}")
  list(REMOVE_DUPLICATES capabilities)
  set(found "")
  foreach(capability IN LISTS capabilities)
    string(REPLACE "." "" architecture ${capability})
    if(architecture LESS TESSERA_LEAST_CUDA_ARCHITECTURE)
      message(STATUS "GPU code: none for the GPU here of compute capability ${capability}, which Tessera cannot use")
    elseif(known MATCHES "compute_${architecture}\n")
      list(APPEND found ${architecture}-real)
    else()
      # A GPU that is newer than the compiler: it starts with PTX.
      return()
    endif()
  endforeach()
  if(found)
    set(${result} ${found} PARENT_SCOPE)
  endif()
endfunction()
