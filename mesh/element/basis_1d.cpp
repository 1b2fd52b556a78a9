// This file places the nodes of an element and evaluates its Lagrange polynomials.
#include "mesh/element/basis_1d.hpp"

#include <stdexcept>
#include <string>

namespace tessera {

std::vector<double> make_nodes(NodeFamily family, int degree) {
  if (degree < 1) throw std::invalid_argument("the degree must be at least 1");
  if (family == NodeFamily::gauss_lobatto) {
    return make_quadrature(QuadratureRule::gauss_lobatto, degree + 1).points;
  }
  std::vector<double> nodes(degree + 1);
  for (int i = 0; i <= degree; ++i) nodes[i] = static_cast<double>(i) / degree;
  return nodes;
}

Matrix1D lagrange_values(std::span<const double> nodes, std::span<const double> points) {
  const int n = static_cast<int>(nodes.size());
  Matrix1D values{static_cast<int>(points.size()), n, std::vector<double>(points.size() * n)};
  for (int a = 0; a < values.rows; ++a) {
    for (int i = 0; i < n; ++i) {
      double product = 1.0;
      for (int j = 0; j < n; ++j) {
        if (j != i) product *= (points[a] - nodes[j]) / (nodes[i] - nodes[j]);
      }
      values.entries[a * n + i] = product;
    }
  }
  return values;
}

Matrix1D lagrange_derivatives(std::span<const double> nodes, std::span<const double> points) {
  const int n = static_cast<int>(nodes.size());
  Matrix1D derivatives{static_cast<int>(points.size()), n, std::vector<double>(points.size() * n)};
  for (int a = 0; a < derivatives.rows; ++a) {
    for (int i = 0; i < n; ++i) {
      double sum = 0.0;
      for (int k = 0; k < n; ++k) {
        if (k == i) continue;
        double product = 1.0 / (nodes[i] - nodes[k]);
        for (int j = 0; j < n; ++j) {
          if (j != i && j != k) product *= (points[a] - nodes[j]) / (nodes[i] - nodes[j]);
        }
        sum += product;
      }
      derivatives.entries[a * n + i] = sum;
    }
  }
  return derivatives;
}

Matrix1D weighted_product(const Matrix1D& A, std::span<const double> weights, double scale) {
  const int n = A.columns;
  Matrix1D product{n, n, std::vector<double>(static_cast<std::size_t>(n) * n)};
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      double sum = 0.0;
      for (int q = 0; q < A.rows; ++q) sum += scale * weights[q] * A(q, i) * A(q, j);
      product.entries[i * n + j] = sum;
    }
  }
  return product;
}

Basis1D make_basis(int degree, NodeFamily family, QuadratureRule rule, int points) {
  if (points < degree + 1) {
    throw std::invalid_argument("at least degree + 1 quadrature points are needed");
  }
  if (points > kMaxPointsPerAxis) {
    throw std::invalid_argument("at most " + std::to_string(kMaxPointsPerAxis) +
                                " quadrature points per axis are possible");
  }
  Basis1D basis{degree, family, rule, make_nodes(family, degree), make_quadrature(rule, points),
                {},     {},     {}};
  basis.B = lagrange_values(basis.nodes, basis.quadrature.points);
  basis.G = lagrange_derivatives(basis.nodes, basis.quadrature.points);
  basis.D = lagrange_derivatives(basis.quadrature.points, basis.quadrature.points);
  return basis;
}

bool is_collocated(const Basis1D& basis) {
  return basis.family == NodeFamily::gauss_lobatto && basis.rule == QuadratureRule::gauss_lobatto &&
         basis.point_count() == basis.node_count();
}

}  // namespace tessera
