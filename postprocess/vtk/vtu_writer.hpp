// These functions write a solution as high-order cells of VTK.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mesh/discretization.hpp"
#include "mesh/lanes/host_array.hpp"
#include "mesh/scalar_field.hpp"
#include "postprocess/files/atomic_file.hpp"
#include "postprocess/vtk/vtu_arrays.hpp"
#include "postprocess/vtk/vtu_options.hpp"
#include "solvers/ranks/communicator.hpp"

namespace tessera {

/// Put into the file as arrays of its field data, strings but for the time, each only if not empty.
struct VtuMetadata {
  std::string title;
  std::string status;                         // such as "not converged"
  std::string program;                        // such as "Tessera 0.1.0 (1234abc)"
  std::optional<double> time = std::nullopt;  // "TimeValue", as ParaView calls it
};

/// The values of a field of the physical position at the points of the file, which need not be
/// nodes of the space.
/// @throws what the field throws
HostArray<double> values_at_vtu_points(const ScalarField& field, const Discretization& space,
                                       const VtuOptions& options);

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

/// How the arrays of a file store their numbers. The files of several ranks, which are pieces of
/// one grid, have the same.
struct VtuWidths {
  FloatWidth positions;
  std::vector<FloatWidth> of_points;  // of each point field
  std::vector<FloatWidth> of_cells;   // of each cell field
  /// Those that are in double precision though single is asked for, as write_vtu() names them.
  std::vector<std::string> widened;
};

/// What write_vtu() decides by the largest magnitude on all ranks, which call this together, each
/// with its part of the same fields.
/// @throws std::invalid_argument, on all ranks, if a field has the wrong size
VtuWidths vtu_widths(const Communicator& ranks, const Discretization& space,
                     std::span<const PointField> point_fields,
                     std::span<const CellField> cell_fields, const VtuOptions& options);

/// Writes the numbers in these widths into a file that its owner commits. @throws OutputError
void write_vtu(AtomicFile& file, const Discretization& space,
               std::span<const PointField> point_fields, std::span<const CellField> cell_fields,
               const VtuOptions& options, const VtuMetadata& metadata, const VtuWidths& widths);

/// The text of a .pvtu file, whose pieces write_vtu() has written from parts of a space with the
/// same fields, options, metadata and widths.
/// @param space any of the parts @param pieces their files, relative to the .pvtu file's folder
std::string pvtu_text(const Discretization& space, std::span<const PointField> point_fields,
                      std::span<const CellField> cell_fields, const VtuOptions& options,
                      const VtuMetadata& metadata, const VtuWidths& widths,
                      std::span<const std::string> pieces);

/// Bytes that write_vtu works with besides what it is given.
Index vtu_working_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int threads,
                        const VtuOptions& options);

/// The bytes of everything in the file before compression, which the file cannot exceed by much.
Index uncompressed_vtu_bytes(const NodeLattice& lattice, const BoxMesh& mesh, int point_field_count,
                             int cell_field_count, const VtuOptions& options);

}  // namespace tessera
