// These functions make dense matrices and solve with them, for comparison.
#pragma once

#include <Eigen/Core>

// Dense matrices to compare with, compiled once: Eigen's templates cost seconds in every file that
// uses them.
namespace tessera::testing {

/// A symmetric n x n matrix whose eigenvalues are log-spaced from 1 to condition, with random
/// eigenvectors.
Eigen::MatrixXd random_spd_matrix(int n, double condition, unsigned seed);

/// A x.
Eigen::VectorXd multiplied(const Eigen::MatrixXd& A, const Eigen::VectorXd& x);

/// A^-1 b for a symmetric A, by its L D L^T factors.
Eigen::VectorXd solved(const Eigen::MatrixXd& A, const Eigen::VectorXd& b);

}  // namespace tessera::testing
