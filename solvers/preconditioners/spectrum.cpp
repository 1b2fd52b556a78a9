// This file makes Lanczos matrices, and finds the extreme eigenvalues of tridiagonal ones.
#include "solvers/preconditioners/spectrum.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <utility>

#include "solvers/errors.hpp"

namespace tessera {
namespace {

[[noreturn]] void fail_not_finite() {
  throw NumericalBreakdown("no eigenvalue estimate: values are not finite");
}

// What was estimated before is no answer: the operator or its diagonal is at fault.
void require_finite(double value) {
  if (!std::isfinite(value)) fail_not_finite();
}

}  // namespace

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

bool LanczosMatrix::take_residual_sum(double rz) {
  // Below this share of the first residual there is only rounding.
  constexpr double kRounding = 1e-12;
  require_finite(rz);
  const double last_rz = std::exchange(rz_, rz);
  const bool is_first = diagonal_.empty();
  if (is_first) first_rz_ = rz;
  if (!(rz > kRounding * first_rz_)) return false;
  beta_ = is_first ? 0.0 : rz / last_rz;
  if (!is_first) off_diagonal_.push_back(std::sqrt(beta_) / alpha_);
  return true;
}

bool LanczosMatrix::take_direction_sum(double pq) {
  require_finite(pq);
  if (!(pq > 0.0)) return false;
  const double last_alpha = std::exchange(alpha_, rz_ / pq);
  diagonal_.push_back(1.0 / alpha_ + (diagonal_.empty() ? 0.0 : beta_ / last_alpha));
  return true;
}

}  // namespace tessera
