// This file computes the steps of Chebyshev's iterations.
#include "solvers/preconditioners/chebyshev.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>

#include "solvers/errors.hpp"

namespace tessera {

namespace {

// Of polynomials with these roots, the lengths of steps in Leja's order: the next root is the one
// at which the steps so far leave most.
std::vector<double> steps_of_roots(std::vector<double> roots) {
  const auto first = std::max_element(roots.begin(), roots.end());
  std::iter_swap(roots.begin(), first);
  // Logarithms, as products over many roots leave the range of numbers.
  std::vector<double> left(roots.size(), 0.0);
  for (std::size_t k = 1; k < roots.size(); ++k) {
    std::size_t most = k;
    for (std::size_t i = k; i < roots.size(); ++i) {
      left[i] += std::log(std::abs(1.0 - roots[i] / roots[k - 1]));
      if (left[i] > left[most]) most = i;
    }
    std::swap(roots[k], roots[most]);
    std::swap(left[k], left[most]);
  }
  for (double& root : roots) root = 1.0 / root;
  return roots;
}

}  // namespace

std::vector<double> chebyshev_steps(int degree, double smallest, double largest) {
  if (degree < 1) throw std::invalid_argument("Chebyshev's iteration has a degree of at least 1");
  if (!(smallest > 0.0) || !(smallest < largest)) {
    throw UnsuitableChoice(Choice::preconditioner,
                           "Chebyshev's iteration needs eigenvalues 0 < smallest < largest: these "
                           "estimates are " +
                               std::to_string(smallest) + " and " + std::to_string(largest));
  }
  const double center = (largest + smallest) / 2.0;
  const double radius = (largest - smallest) / 2.0;
  std::vector<double> roots;
  for (int i = 1; i <= degree; ++i) {
    roots.push_back(center + radius * std::cos((2 * i - 1) * std::numbers::pi / (2 * degree)));
  }
  return steps_of_roots(std::move(roots));
}

}  // namespace tessera
