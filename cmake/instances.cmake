# tessera_instances(SOURCES TEMPLATE DIMENSIONS [DEGREES FIRST-LAST...]): appends to the list SOURCES a file for each of DIMENSIONS
# ("2;3"), of double and float and, where they are named, of ranges of degrees, made of TEMPLATE (kernel.cu.in), in which
# @dimension@, @type@, @first_degree@ and @last_degree@ stand for them. So each instance of a template that compiles slowly is
# compiled on its own, and a GPU is given no more code than a run needs.
function(tessera_instances sources template dimensions)
  cmake_parse_arguments(PARSE_ARGV 3 arguments "" "" "DEGREES")
  cmake_path(GET template STEM LAST_ONLY name)  # without .in
  cmake_path(GET name STEM LAST_ONLY stem)
  cmake_path(GET name EXTENSION LAST_ONLY extension)
  cmake_path(GET template PARENT_PATH folder)
  set(made ${${sources}})
  foreach(dimension IN LISTS dimensions)
    foreach(type double float)
      set(file ${PROJECT_BINARY_DIR}/generated/operators/${folder}/${stem}_${dimension}d_${type})
      if(NOT arguments_DEGREES)
        configure_file(${template} ${file}${extension} @ONLY)
        list(APPEND made ${file}${extension})
      endif()
      foreach(degrees IN LISTS arguments_DEGREES)
        string(REPLACE "-" ";" ends ${degrees})
        list(GET ends 0 first_degree)
        list(GET ends 1 last_degree)
        configure_file(${template} ${file}_${degrees}${extension} @ONLY)
        list(APPEND made ${file}_${degrees}${extension})
      endforeach()
    endforeach()
  endforeach()
  set(${sources} ${made} PARENT_SCOPE)
endfunction()
