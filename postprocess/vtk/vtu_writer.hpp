// This function writes a solution as high-order cells of VTK.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mesh/discretization.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/vtk/equidistant.hpp"
#include "postprocess/vtk/float_width.hpp"

namespace tessera {

/// A function of position to be shown; values [lattice.size()], x fastest.
struct PointField {
  std::string name;
  std::span<const double> values;
};

/// One number per cell; values [mesh.cell_count()], x fastest.
struct CellField {
  std::string name;
  std::span<const double> values;
};

/// Put into the file as string arrays of its field data, each only if not empty.
struct VtuMetadata {
  std::string title;
  std::string status;   // such as "not converged"
  std::string program;  // such as "Tessera 0.1.0 (1234abc)"
};

/// The highest degree that VTK's Lagrange cells can show; a cell of higher degree is written as p^d
/// (bi-, tri-)linear ones between its nodes.
inline constexpr int kMaxVtkDegree = 10;

/// Writes a VTK unstructured grid with one arbitrary-order Lagrange cell per cell (linear cells for
/// p = 1) and shared nodes; binary, compressed, 64-bit ids. The owner of the file commits it.
///
/// @param positions, point_fields at equidistant nodes (see to_equidistant)
/// @param width of the numbers; those of a field, or the positions, whose largest magnitude is
///        beyond the range of single precision, or so small that digits are lost there, are in
///        double precision in any case
/// @return the names of these fields, "positions" for the positions
/// @throws OutputError; nothing is printed
/// @throws std::invalid_argument if a field has the wrong size.
std::vector<std::string> write_vtu(AtomicFile& file, const NodeLattice& lattice,
                                   const BoxMesh& mesh, const EquidistantPositions& positions,
                                   std::span<const PointField> point_fields,
                                   std::span<const CellField> cell_fields, FloatWidth width,
                                   const VtuMetadata& metadata);

/// Bytes of what write_vtu makes for VTK: points, cells, and the fields that it has to copy. Point
/// fields are lent to VTK in double precision and copied in single precision.
Index vtk_grid_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int rounded_fields,
                     FloatWidth width);

}  // namespace tessera
