// This file computes the coefficients of Chebyshev's iterations.
#include "solvers/preconditioners/chebyshev.hpp"

#include <stdexcept>
#include <string>

#include "solvers/errors.hpp"

namespace tessera {

std::vector<ChebyshevStep> chebyshev_steps(int degree, double smallest, double largest) {
  if (degree < 1) throw std::invalid_argument("Chebyshev's iteration has a degree of at least 1");
  if (!(smallest > 0.0) || !(smallest < largest)) {
    throw UnsuitableChoice(Choice::preconditioner,
                           "Chebyshev's iteration needs eigenvalues 0 < smallest < largest: these "
                           "estimates are " +
                               std::to_string(smallest) + " and " + std::to_string(largest));
  }
  const double center = (largest + smallest) / 2.0;
  const double radius = (largest - smallest) / 2.0;
  const double ratio = center / radius;
  std::vector<ChebyshevStep> steps{{0.0, 1.0 / center}};
  double rho = 1.0 / ratio;
  for (int k = 1; k < degree; ++k) {
    const double next = 1.0 / (2.0 * ratio - rho);
    steps.push_back({next * rho, 2.0 * next / radius});
    rho = next;
  }
  return steps;
}

std::vector<ChebyshevStep> fourth_kind_steps(int degree, double largest) {
  if (degree < 1) throw std::invalid_argument("Chebyshev's iteration has a degree of at least 1");
  if (!(largest > 0.0)) {
    throw UnsuitableChoice(Choice::preconditioner,
                           "Chebyshev's iteration needs a largest eigenvalue above 0: its estimate "
                           "is " +
                               std::to_string(largest));
  }
  std::vector<ChebyshevStep> steps;
  for (int k = 1; k <= degree; ++k) {
    const double denominator = 2.0 * k + 1.0;
    steps.push_back({(2.0 * k - 3.0) / denominator, (8.0 * k - 4.0) / (denominator * largest)});
  }
  steps[0].momentum = 0.0;
  return steps;
}

}  // namespace tessera
