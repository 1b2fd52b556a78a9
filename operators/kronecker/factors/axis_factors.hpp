// AxisFactors are the assembled 1D mass and stiffness matrices of an axis.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "mesh/discretization.hpp"

namespace tessera {

/// Whether all cells along an axis have the same 1D matrices.
enum class AxisCells { alike, different };

/// Assembled 1D mass and stiffness matrices along one axis, n = p cells + 1 nodes:
/// M_ij = integral of k phi_i phi_j, K_ij = integral of k phi_i' phi_j' + end terms, by the form's
/// quadrature rule. Rows and columns of constrained ends are zero.
///
/// Rows are stored by owner: cell c, 0 <= c <= cells, owns nodes c p .. c p + p - 1 (the last one
/// owns only the last node; its other rows are zero). A block has p (p + 2) entries: row 0, columns
/// (c - 1) p .. (c + 1) p, then rows 1 .. p - 1, columns c p .. (c + 1) p. Columns beyond the mesh
/// are zero.
struct AxisFactors {
  int degree = 1;
  Index cells = 1;
  AxisCells kind = AxisCells::alike;
  std::array<bool, 2> constrained{};
  /// What the stiffness of the first and the last node has beside the cells': Robin ends.
  std::array<double, 2> end_terms{};
  std::vector<double> mass;                // [cells + 1][p (p + 2)]
  std::vector<double> stiffness;           // [cells + 1][p (p + 2)]
  std::vector<double> mass_diagonal;       // [n]
  std::vector<double> stiffness_diagonal;  // [n]
  double total_mass = 0.0;  // the integral of the mass weight, constrained ends included
  /// The matrices of one cell, without ends, or of each where cells differ.
  std::vector<double> cell_mass;       // [1 or cells][p + 1][p + 1]
  std::vector<double> cell_stiffness;  // [1 or cells][p + 1][p + 1]

  Index nodes() const { return nodes_along(cells, degree); }
  Index block_size() const { return static_cast<Index>(degree) * (degree + 2); }
};

/// The weights k of an axis's matrices at its quadrature points, [cell][q].
struct AxisWeights {
  std::span<const double> mass;
  std::span<const double> stiffness;
};

/// The ends of an axis: whether their nodes are constrained, and what is added to the stiffness
/// there.
struct AxisEnds {
  std::array<bool, 2> constrained{};
  std::array<double, 2> terms{};
};

/// Assembles the matrices along axis d. Where cells are alike, the weights of the first serve all.
AxisFactors make_axis_factors(const Discretization& discretization, int d,
                              const AxisWeights& weights, AxisCells kind, const AxisEnds& ends);

/// The rows of matrices of the axis's cells (cell_mass, cell_stiffness), where no node is
/// constrained and ends have no terms. [cells + 1][p (p + 2)]
std::vector<double> assembled_without_ends(const AxisFactors& axis,
                                           const std::vector<double>& cell_matrices);

/// Adds to what the stiffness has at the first (side 0) or the last node, unless it is constrained.
void add_end_term(AxisFactors& axis, int side, double value);

/// Bytes of the assembled factors of one axis in double precision.
Index axis_factor_bytes(int degree, Index cells);

}  // namespace tessera
