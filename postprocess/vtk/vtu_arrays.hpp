// These are the arrays of a solution's file: places, values, cells.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mesh/discretization.hpp"
#include "postprocess/vtk/equidistant.hpp"
#include "postprocess/vtk/vtu_file.hpp"
#include "postprocess/vtk/vtu_options.hpp"

namespace tessera {

/// What is shown at the file's points: a function of the space by its values at the nodes, values
/// that are given at those points (values_at_vtu_points()), or, where there are both, the first
/// less the second. The name needs no escapes in XML.
struct PointField {
  std::string name;
  std::span<const double> nodal;
  std::span<const double> given = {};
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
  /// The x, y and z of these points, in the scratch.
  std::array<double*, 3> find(Range points, std::vector<double>& scratch) const;

 private:
  const Mapping& mapping_;
  Frame frame_;
  const EquidistantSampler& sampler_;
  std::optional<Mapping> box_;
};

/// Bytes of a floating-point number.
Index number_bytes(FloatWidth width);
/// max |value|, where what is not finite counts as 0: it is the same in both precisions.
double largest_magnitude(std::span<const double> values);

/// The arrays; they refer to all that they are given.
VtuArray position_array(const VtuPositions& positions, const VtuGrid& grid, FloatWidth width);
VtuArray point_array(const PointField& field, const EquidistantSampler& sampler,
                     const VtuGrid& grid, FloatWidth width);
VtuArray cell_array(const CellField& field, const BoxMesh& mesh, const VtuGrid& grid,
                    FloatWidth width);
/// The ids of each cell's nodes, where they end, and the cell's type.
VtuSection cell_section(const VtuGrid& grid);

}  // namespace tessera
