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
  solver.computeFromTridiagonal(main, side, Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success || !main.allFinite()) fail_not_finite();
  return {solver.eigenvalues()[0], solver.eigenvalues()[n - 1], static_cast<int>(n)};
}

}  // namespace tessera
