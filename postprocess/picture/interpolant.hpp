// An Interpolant evaluates a nodal function at any point of any cell.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "mesh/node_lattice.hpp"
#include "postprocess/picture/cell_locator.hpp"

namespace tessera {

/// The Lagrange polynomials of degree p in one variable, anywhere.
class LagrangeBasis {
 public:
  /// @param nodes p + 1 different ones
  explicit LagrangeBasis(std::span<const double> nodes);

  /// Which polynomials are not 0 at a point: [first, last].
  struct Support {
    int first;
    int last;
  };
  /// values[i] = l_i(xi), [p + 1].
  Support evaluate(double xi, double* values) const;

 private:
  std::vector<double> nodes_;
  std::vector<double> weights_;  // 1 / product of distances to the other nodes
};

/// Evaluates u(xi) = sum_i phi_i(xi) u_i in cells. An object remembers what the point before had to
/// do with, so that neighboring points in one layer of a cell are cheap; each thread has its own.
class Interpolant {
 public:
  /// @param lattice, values are referred to, values [lattice.size()]
  Interpolant(const NodeLattice& lattice, const LagrangeBasis& basis, const double* values);

  double operator()(const CellPoint& point);

 private:
  /// Contracts y: slice_[iz][ix] = sum_iy l_iy u[iz][iy][ix].
  void make_slice(const CellPoint& point);

  const NodeLattice& lattice_;
  const LagrangeBasis& basis_;
  const double* values_;
  int nodes_;  // p + 1
  std::array<std::vector<double>, 3> factors_;
  std::array<LagrangeBasis::Support, 3> support_;
  std::vector<double> slice_;
  IndexTriple slice_cell_{-1, -1, -1};
  double slice_xi_ = 0.0;
  LagrangeBasis::Support slice_support_{0, 0};  // along z
};

}  // namespace tessera
