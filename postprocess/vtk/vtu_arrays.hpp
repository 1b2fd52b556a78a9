// These are the arrays of a solution's file: places, values, cells.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mesh/discretization.hpp"
#include "postprocess/vtk/equidistant.hpp"
#include "postprocess/vtk/vtu_file.hpp"
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

/// The highest degree that VTK's Lagrange cells can show; a cell of higher degree is written as m^d
/// (bi-, tri-)linear ones between its points.
inline constexpr int kMaxVtkDegree = 10;

/// The points and cells as they go into the file: cells are those of the mesh, or parts of them.
struct VtuGrid {
  VtuGrid(const BoxMesh& mesh, int space_degree, const VtuOptions& options);

  Index cell_count() const { return cells[0] * cells[1] * cells[2]; }
  Index cell_size() const { return power(degree + 1, points.dimension()); }
  IndexTriple cell_position(Index cell) const {
    const Index row = cell / cells[0];
    return {cell % cells[0], row % cells[1], row / cells[1]};
  }
  /// 32 bits halve the largest array of the file where they suffice.
  Index id_bytes() const;

  NodeLattice points;
  int degree;
  Index refinement;  // file cells along an axis of a mesh cell
  IndexTriple cells{1, 1, 1};
};

/// The physical positions of the file's points.
class VtuPositions {
 public:
  /// Space and sampler are referred to.
  VtuPositions(const Discretization& space, const EquidistantSampler& sampler, const VtuGrid& grid);

  /// The largest magnitude of coordinate d of a node; that of a point is at most growth() times as
  /// large.
  double largest(const BoxMesh& mesh, int d) const;
  double growth() const { return box_ ? 1.0 : sampler_.growth(); }
  /// Writes x, y, z of each point as numbers of this width.
  void write(Range points, FloatWidth width, std::byte* out, std::vector<double>& scratch) const;

 private:
  const Mapping& mapping_;
  Frame frame_;
  const EquidistantSampler& sampler_;
  std::optional<Mapping> box_;
};

/// Bytes of a floating-point number.
Index number_bytes(FloatWidth width);
/// max |f|, where what is not finite counts as 0: it is the same in both precisions.
double largest_magnitude(const NodalFunction& function);

/// The arrays; they refer to all that they are given.
VtuArray position_array(const VtuPositions& positions, const EquidistantSampler& sampler,
                        const VtuGrid& grid, FloatWidth width);
VtuArray point_array(const PointField& field, const EquidistantSampler& sampler,
                     const VtuGrid& grid, FloatWidth width);
VtuArray cell_array(const CellField& field, const BoxMesh& mesh, const VtuGrid& grid,
                    FloatWidth width);
/// The ids of each cell's nodes, where they end, and the cell's type.
VtuSection cell_section(const VtuGrid& grid);

}  // namespace tessera
