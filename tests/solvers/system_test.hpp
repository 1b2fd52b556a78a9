// This fixture has a small system of linear equations on the host.
#pragma once

#include <gtest/gtest.h>

#include "tests/everywhere.hpp"
#include "tests/solvers/operators_to_solve.hpp"

namespace tessera::testing {

/// A x = b of 30 unknowns, with eigenvalues from 1 to `condition`.
template <class T>
class SystemTest : public ::testing::Test {
 protected:
  explicit SystemTest(double condition = 100.0) : a_(random_spd_matrix(30, condition, 3)) {}

  Eigen::VectorXd solution() const { return solved(a_.matrix(), eigen_of(b_)); }
  /// ||b - A x|| in double.
  double residual_norm(const HostVector<T>& x) const {
    return (eigen_of(b_) - multiplied(a_.matrix(), eigen_of(x))).norm();
  }

  DenseOperator<T> a_;
  HostVector<T> b_ = vector_of<T>(random_values(30, 5));
};

}  // namespace tessera::testing
