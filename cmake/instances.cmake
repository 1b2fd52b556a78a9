# tessera_instances(SOURCES TEMPLATE DIMENSIONS): appends to the list SOURCES a file for each of DIMENSIONS ("2;3") and each of
# double and float, made of TEMPLATE (kernel.cu.in), in which @dimension@ and @type@ stand for them. So each instance of
# a template that compiles slowly is compiled on its own.
function(tessera_instances sources template dimensions)
  cmake_path(GET template STEM LAST_ONLY name)  # without .in
  cmake_path(GET name STEM LAST_ONLY stem)
  cmake_path(GET name EXTENSION LAST_ONLY extension)
  cmake_path(GET template PARENT_PATH folder)
  set(made ${${sources}})
  foreach(dimension IN LISTS dimensions)
    foreach(type double float)
      set(file ${PROJECT_BINARY_DIR}/generated/operators/${folder}/${stem}_${dimension}d_${type}${extension})
      configure_file(${template} ${file} @ONLY)
      list(APPEND made ${file})
    endforeach()
  endforeach()
  set(${sources} ${made} PARENT_SCOPE)
endfunction()
