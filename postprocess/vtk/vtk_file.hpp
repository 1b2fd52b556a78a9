// This function writes a VTK grid to a file.
#pragma once

#include <filesystem>
#include <string>

#include "mesh/index.hpp"

class vtkUnstructuredGrid;

namespace tessera {

/// The bytes of the blocks that this many threads compress ahead.
Index vtk_compression_bytes(int threads);

/// Writes the grid over an existing file as .vtu, version 2.2 (hexahedra numbered as of VTK 9.1),
/// appended raw binary, compressed on all threads. Part of write_vtu.
/// @return empty, or why it failed; then the file's content is not usable. Prints nothing.
std::string write_vtk_file(const std::filesystem::path& path, vtkUnstructuredGrid& grid);

}  // namespace tessera
