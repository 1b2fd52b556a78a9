// An Interpolant evaluates a nodal function at any point of any cell.
#pragma once

#include <array>
#include <vector>

#include "mesh/cell_locator.hpp"
#include "mesh/element/line_basis.hpp"
#include "mesh/node_lattice.hpp"

namespace tessera {

/// Evaluates u(xi) = sum_i phi_i(xi) u_i in cells. An object remembers what the point before had to
/// do with, so that neighboring points in one layer of a cell are cheap; each thread has its own.
class Interpolant {
 public:
  /// @param lattice, values are referred to, values [lattice.size()]
  Interpolant(const NodeLattice& lattice, const LineBasis& basis, const double* values);

  double operator()(const CellPoint& point);

 private:
  /// Contracts y: slice_[iz][ix] = sum_iy l_iy u[iz][iy][ix].
  void make_slice(const CellPoint& point);

  const NodeLattice& lattice_;
  const LineBasis& basis_;
  const double* values_;
  int nodes_;  // p + 1
  std::array<LineValues, 3> factors_;
  std::array<LineBasis::Support, 3> support_;
  std::vector<double> slice_;
  IndexTriple slice_cell_{-1, -1, -1};
  double slice_xi_ = 0.0;
  LineBasis::Support slice_support_;  // along z
};

}  // namespace tessera
