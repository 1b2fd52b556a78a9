// This file finds the extreme eigenvalues of a tridiagonal matrix.
#include "solvers/preconditioners/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

#include "solvers/errors.hpp"

namespace tessera {
namespace {

[[noreturn]] void fail_not_finite() {
  throw NumericalBreakdown("no eigenvalue estimate: values are not finite");
}

}  // namespace

void require_finite(double value) {
  if (!std::isfinite(value)) fail_not_finite();
}

Spectrum tridiagonal_spectrum(const std::vector<double>& diagonal,
                              const std::vector<double>& off_diagonal) {
  const auto n = static_cast<Eigen::Index>(diagonal.size());
  if (n == 0) throw NumericalBreakdown("no eigenvalue estimate: the operator is not positive");
  const Eigen::VectorXd main = Eigen::Map<const Eigen::VectorXd>(diagonal.data(), n);
  const Eigen::VectorXd side = Eigen::Map<const Eigen::VectorXd>(off_diagonal.data(), n - 1);
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver;
  solver.computeFromTridiagonal(main, side, Eigen::ComputeEigenvectors);
  if (solver.info() != Eigen::Success || !main.allFinite()) fail_not_finite();
  const double largest = solver.eigenvalues()[n - 1];
  const double next = off_diagonal.size() < diagonal.size() ? 0.0 : off_diagonal.back();
  const double residual = std::abs(next * solver.eigenvectors()(n - 1, n - 1));
  return {solver.eigenvalues()[0], largest, largest + residual, static_cast<int>(n)};
}

}  // namespace tessera
