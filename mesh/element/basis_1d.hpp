// A Basis1D tabulates the 1D Lagrange polynomials and their derivatives at quadrature points.
#pragma once

#include <span>
#include <vector>

#include "mesh/element/quadrature.hpp"

namespace tessera {

/// Where the p + 1 nodes of a 1D element lie; both kinds include the ends.
enum class NodeFamily { gauss_lobatto, equidistant };

/// The p + 1 nodes on [0, 1], increasing, symmetric about 1/2.
/// @throws std::invalid_argument if the degree is less than 1
std::vector<double> make_nodes(NodeFamily family, int degree);

/// A dense matrix by rows: entry (a, b) of [rows][columns] at a * columns + b.
struct Matrix1D {
  int rows = 0;
  int columns = 0;
  std::vector<double> entries;

  double operator()(int a, int b) const { return entries[a * columns + b]; }
};

/// values(a, i) = l_i(points[a]), with l_i the Lagrange polynomial that is 1 at nodes[i].
Matrix1D lagrange_values(std::span<const double> nodes, std::span<const double> points);

/// derivatives(a, i) = l_i'(points[a]).
Matrix1D lagrange_derivatives(std::span<const double> nodes, std::span<const double> points);

/// scale A^T W A, [columns][columns], with the diagonal matrix W of the rows' weights. For A = B
/// this is the mass matrix M of one cell and axis, for A = G the stiffness matrix K.
Matrix1D weighted_product(const Matrix1D& A, std::span<const double> weights, double scale = 1.0);

/// The floating-point operations of a rows x columns matrix on one line by even-odd decomposition:
/// multiply-adds with half of the entries, and sums and differences of pairs.
constexpr double even_odd_line_flops(double rows, double columns) {
  return rows * columns + rows + columns;
}

/// The 1D Lagrange basis of degree p, tabulated at a quadrature rule on [0, 1].
///
/// `B` (values, [q][i]) and `G` (derivatives, [q][i]) are libCEED's matrices of these names;
/// `D` ([q][q]) differentiates a polynomial given at the quadrature points, so that G = D B
/// whenever there are at least p + 1 points.
struct Basis1D {
  int degree;
  NodeFamily family;
  QuadratureRule rule;
  std::vector<double> nodes;
  Quadrature quadrature;
  Matrix1D B;
  Matrix1D G;
  Matrix1D D;

  int node_count() const { return degree + 1; }
  int point_count() const { return static_cast<int>(quadrature.points.size()); }
};

/// The largest number of nodes or points per axis for which kernels of run-time size have room.
inline constexpr int kMaxPointsPerAxis = 48;

/// @throws std::invalid_argument if degree < 1, points < degree + 1 (fewer make the stiffness
///         matrix singular or D B differ from G) or points > kMaxPointsPerAxis.
Basis1D make_basis(int degree, NodeFamily family, QuadratureRule rule, int points);

/// Whether B is the identity: quadrature points are the nodes (spectral elements).
bool is_collocated(const Basis1D& basis);

}  // namespace tessera
