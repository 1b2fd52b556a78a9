// This file makes dense matrices and solves with them, by Eigen.
#include "tests/solvers/dense_algebra.hpp"

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/random_values.hpp"

namespace tessera::testing {

Eigen::MatrixXd random_spd_matrix(int n, double condition, unsigned seed) {
  const std::vector<double> entries = random_values(std::int64_t{n} * n, seed);
  const Eigen::MatrixXd random = Eigen::Map<const Eigen::MatrixXd>(entries.data(), n, n);
  const Eigen::MatrixXd Q = Eigen::HouseholderQR<Eigen::MatrixXd>(random).householderQ();
  Eigen::VectorXd eigenvalues(n);
  for (int i = 0; i < n; ++i) {
    eigenvalues[i] = std::pow(condition, n > 1 ? static_cast<double>(i) / (n - 1) : 0.0);
  }
  const Eigen::MatrixXd A = Q * eigenvalues.asDiagonal() * Q.transpose();
  return 0.5 * (A + A.transpose());
}

Eigen::VectorXd multiplied(const Eigen::MatrixXd& A, const Eigen::VectorXd& x) { return A * x; }

Eigen::VectorXd solved(const Eigen::MatrixXd& A, const Eigen::VectorXd& b) {
  return A.ldlt().solve(b);
}

}  // namespace tessera::testing
