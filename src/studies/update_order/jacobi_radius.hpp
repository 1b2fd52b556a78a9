// These functions find the spectral radius that decides whether every order converges.
#pragma once

#include <cmath>
#include <utility>

#include "solvers/memory/vector.hpp"
#include "solvers/preconditioners/block_rows.hpp"

namespace tessera {

/// y_i = sum over j != i of |a_ij / a_ii| x_j.
void multiply_absolute(const BlockRows<double, Host>& a, const HostVector<double>& x,
                       HostVector<double>& y);
/// The same in GPU memory, one thread a row. @throws DeviceError
void multiply_absolute(const BlockRows<double, Device>& a, const DeviceVector<double>& x,
                       DeviceVector<double>& y);

/// rho(|I - D^-1 A|), D the diagonal of A, by power iteration from ones, until the growth of the
/// norm changes by less than 1e-6 in ten steps or at most 300 steps were done. If it is below 1,
/// relaxation of single rows in place converges for every order of events (Chazan and Miranker
/// 1969).
template <class Space>
[[nodiscard]] double jacobi_radius(const BlockRows<double, Space>& a) {
  constexpr int kMaxSteps = 300;
  constexpr int kStepsAtATime = 10;
  constexpr double kTolerance = 1e-6;
  Vector<double, Space> x(a.size());
  Vector<double, Space> y(a.size());
  Vector<double, Space> scale(a.size());
  fill(x, 1.0);
  double before = 0.0;
  double growth = 0.0;
  for (int step = 1; step <= kMaxSteps; ++step) {
    const double norm = std::sqrt(dot(x, x));
    // A diagonal matrix.
    if (norm == 0.0) return 0.0;
    fill(scale, 1.0 / norm);
    multiply(x, scale, x);
    multiply_absolute(a, x, y);
    growth = std::sqrt(dot(y, y));
    std::swap(x, y);
    if (step % kStepsAtATime != 0) continue;
    if (std::abs(growth - before) < kTolerance) break;
    before = growth;
  }
  return growth;
}

}  // namespace tessera
