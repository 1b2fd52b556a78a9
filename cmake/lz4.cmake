# LZ4, which comes without a package of CMake: the target tessera_lz4.
find_path(LZ4_INCLUDE_DIR lz4.h REQUIRED)
find_library(LZ4_LIBRARY lz4 REQUIRED)
mark_as_advanced(LZ4_INCLUDE_DIR LZ4_LIBRARY)
add_library(tessera_lz4 INTERFACE)
target_include_directories(tessera_lz4 SYSTEM INTERFACE ${LZ4_INCLUDE_DIR})
target_link_libraries(tessera_lz4 INTERFACE ${LZ4_LIBRARY})
