#pragma once

#include <array>
#include <string>
#include <vector>

#include "operators/stiffness_form.hpp"

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
  std::vector<double> mass;                // [cells + 1][p (p + 2)]
  std::vector<double> stiffness;           // [cells + 1][p (p + 2)]
  std::vector<double> mass_diagonal;       // [n]
  std::vector<double> stiffness_diagonal;  // [n]
  /// One cell's matrices, without ends; of the first cell where cells differ.
  std::vector<double> cell_mass;       // [p + 1][p + 1]
  std::vector<double> cell_stiffness;  // [p + 1][p + 1]

  Index nodes() const { return degree * cells + 1; }
  Index block_size() const { return static_cast<Index>(degree) * (degree + 2); }
};

/// A = K x M x M + M x K x M + M x M x K of an axis-aligned mesh whose coefficient is a product of
/// functions of one coordinate; in 2D A = K x M + M x K. `x` stands for the Kronecker product.
struct KroneckerFactors {
  int dimension = 3;
  std::array<AxisFactors, 3> axes;
  /// Robin faces that are no part of the 1D factors: alpha, or k along the face, varies.
  std::vector<RobinTerm> other_robin;
};

/// Why the operator of the form is no sum of Kronecker products, in a user's words; empty if it is.
std::string why_not_kronecker(const StiffnessForm& form);

/// @throws std::invalid_argument with why_not_kronecker(), BadFieldValue if the coefficient is not
///         positive and finite at a quadrature point or an alpha is negative or not finite
KroneckerFactors make_kronecker_factors(const StiffnessForm& form);

/// Bytes of the factors of one axis in double precision.
Index axis_factor_bytes(int degree, Index cells);

}  // namespace tessera
