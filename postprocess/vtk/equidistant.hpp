// An EquidistantSampler evaluates functions of a space at VTK's equidistant nodes.
#pragma once

#include <span>
#include <vector>

#include "mesh/element/basis_1d.hpp"
#include "mesh/node_lattice.hpp"
#include "mesh/partition.hpp"

namespace tessera {

/// Evaluates lattice functions at equidistant points: in each cell the same polynomial of degree p,
/// at (i/m, j/m, k/m), i, j, k <= m.
class EquidistantSampler {
 public:
  /// @param nodes the p + 1 element nodes on [0, 1], both ends included
  /// @param points the lattice of degree m on the same cells
  EquidistantSampler(const NodeLattice& lattice, std::span<const double> nodes,
                     const NodeLattice& points);

  /// Writes the values at these consecutive points. Values at vertices, and at points that are
  /// nodes, are copied. @param nodal values at the nodes of the lattice, x fastest
  /// @param scratch [scratch_size(points.size())]
  void sample(std::span<const double> nodal, Range points, double* out, double* scratch) const;
  Index scratch_size(Index points) const;
  /// The largest factor between the function's magnitude at the points and that at the nodes.
  double growth() const;

 private:
  // Where a point lies along an axis: at number `point` of a cell's m + 1.
  struct Place {
    Index cell;
    int point;
  };
  // Cells along x.
  struct Columns {
    Index first;
    Index end;
    bool operator==(const Columns&) const = default;
  };

  Place place(int axis, Index position) const;
  Columns columns(Index first, Index count) const;
  Index width(Columns columns) const { return (columns.end - columns.first) * p_ + 1; }
  void blend_planes(std::span<const double> nodal, Columns columns, Index row, Place z,
                    double* out) const;
  void blend_rows(const double* rows, Index width, int point, double* out) const;
  void sample_row(const double* row, Columns columns, Index first, Index count, double* out) const;

  NodeLattice lattice_;
  NodeLattice points_;
  int p_;
  int m_;
  Matrix1D matrix_;  // [m + 1][p + 1]
};

}  // namespace tessera
