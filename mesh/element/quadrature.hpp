// These are the Gauss and Gauss-Lobatto rules on [0, 1].
#pragma once

#include <vector>

namespace tessera {

/// The families of 1D points and weights: Gauss (exact to degree 2n - 1, inside the interval) or
/// Gauss-Lobatto (exact to degree 2n - 3, both ends included).
enum class QuadratureRule { gauss, gauss_lobatto };

/// Points (increasing) and weights on [0, 1]; the weights sum to 1.
struct Quadrature {
  std::vector<double> points;
  std::vector<double> weights;
};

/// The n-point rule on [0, 1], accurate to rounding, symmetric about 1/2 to the last bit.
/// @throws std::invalid_argument if n < 1 (Gauss) or n < 2 (Gauss-Lobatto).
Quadrature make_quadrature(QuadratureRule rule, int n);

}  // namespace tessera
