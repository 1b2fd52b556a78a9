// This function writes a solution as high-order cells of VTK.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mesh/discretization.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/vtk/equidistant.hpp"
#include "postprocess/vtk/vtu_options.hpp"

namespace tessera {

/// A function to be shown, given at the nodes of the space; its name needs no escapes in XML.
struct PointField {
  std::string name;
  NodalFunction function;
};

/// One number per cell; values [mesh.cell_count()], x fastest.
struct CellField {
  std::string name;
  std::span<const double> values;
};

/// Put into the file as arrays of its field data, strings but for the time, each only if not empty.
struct VtuMetadata {
  std::string title;
  std::string status;                         // such as "not converged"
  std::string program;                        // such as "Tessera 0.1.0 (1234abc)"
  std::optional<double> time = std::nullopt;  // "TimeValue", as ParaView calls it
};

/// The highest degree that VTK's Lagrange cells can show; a cell of higher degree is written as m^d
/// (bi-, tri-)linear ones between its points.
inline constexpr int kMaxVtkDegree = 10;

/// Writes a VTK unstructured grid with one arbitrary-order Lagrange cell per cell (linear cells for
/// degree 1) and shared points; binary. The file has a temporary name until it is complete.
///
/// The positions are physical ones, whatever the frame of the space is.
///
/// Numbers of a field, or positions, whose largest magnitude is beyond the range of single
/// precision, or so small that digits are lost there, are in double precision in any case.
///
/// @return the names of these fields, "positions" for the positions
/// @throws OutputError; then no file is left behind. Nothing is printed.
/// @throws std::invalid_argument if a field has the wrong size.
std::vector<std::string> write_vtu(const std::filesystem::path& path, const Discretization& space,
                                   std::span<const PointField> point_fields,
                                   std::span<const CellField> cell_fields,
                                   const VtuOptions& options, const VtuMetadata& metadata);

/// The same into a file that its owner commits.
std::vector<std::string> write_vtu(AtomicFile& file, const Discretization& space,
                                   std::span<const PointField> point_fields,
                                   std::span<const CellField> cell_fields,
                                   const VtuOptions& options, const VtuMetadata& metadata);

/// Bytes that write_vtu works with besides what it is given.
Index vtu_working_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int threads,
                        const VtuOptions& options);

/// The bytes of everything in the file before compression, which the file cannot exceed by much.
Index uncompressed_vtu_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int point_field_count,
                             int cell_field_count, const VtuOptions& options);

}  // namespace tessera
