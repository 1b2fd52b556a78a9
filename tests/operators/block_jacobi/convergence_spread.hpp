// These functions measure how far residuals of asynchronous runs spread.
#pragma once

#include <cmath>
#include <vector>

#include "solvers/linear_operator.hpp"
#include "solvers/preconditioners/residual_spread.hpp"
#include "solvers/smoother.hpp"

namespace tessera::testing {

/// ||b - A x|| / ||b|| after so many iterations of several runs, and that of the synchronous
/// method.
struct IterationSpread : ResidualSpread {
  int iteration = 0;
  double synchronous = 0.0;
};

/// The spread of runs[run][iteration - 1] beside synchronous[iteration - 1].
inline std::vector<IterationSpread> iteration_spreads(const std::vector<std::vector<double>>& runs,
                                                      const std::vector<double>& synchronous) {
  std::vector<IterationSpread> spreads;
  for (std::size_t i = 0; i < synchronous.size(); ++i) {
    std::vector<double> residuals;
    residuals.reserve(runs.size());
    for (const std::vector<double>& run : runs) residuals.push_back(run[i]);
    spreads.push_back({residual_spread(residuals), static_cast<int>(i) + 1, synchronous[i]});
  }
  return spreads;
}

/// ||b - A x|| / ||b|| after each of so many calls of smooth(), from x = 0; b is not zero.
template <class T, class Space>
std::vector<double> residuals_of_iteration(const LinearOperator<T, Space>& a,
                                           const Smoother<T, Space>& smoother,
                                           const Vector<T, Space>& b, int iterations) {
  Vector<T, Space> x(b.size());
  Vector<T, Space> ax(b.size());
  // On the host in either space: there are few such numbers.
  HostVector<T> host_b(b.size());
  HostVector<T> r(b.size());
  copy(b, host_b);
  std::vector<double> residuals;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    smoother.smooth(b, x);
    a.apply(x, ax);
    copy(ax, r);
    residuals.push_back(std::sqrt(subtract_from(host_b, r)) / norm(host_b));
  }
  return residuals;
}

/// How far runs of the fixed-point iteration x = x + M (b - A x) from zero differ, where M is
/// another one every time. The residual is computed between iterations, so only within one can
/// sweeps run into each other: `asynchronous` should do several.
template <class T, class Space>
std::vector<IterationSpread> convergence_spread(const LinearOperator<T, Space>& a,
                                                const Smoother<T, Space>& asynchronous,
                                                const Smoother<T, Space>& synchronous,
                                                const Vector<T, Space>& b, int iterations,
                                                int runs) {
  std::vector<std::vector<double>> residuals;
  residuals.reserve(runs);
  for (int run = 0; run < runs; ++run) {
    residuals.push_back(residuals_of_iteration(a, asynchronous, b, iterations));
  }
  return iteration_spreads(residuals, residuals_of_iteration(a, synchronous, b, iterations));
}

}  // namespace tessera::testing
