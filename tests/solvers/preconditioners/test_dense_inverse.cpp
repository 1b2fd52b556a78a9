// These tests invert small operators, singular ones included.
#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "solvers/preconditioners/dense_inverse.hpp"
#include "solvers/sparse_rows.hpp"
#include "tests/device_test.hpp"
#include "tests/solvers/diagonal_systems.hpp"
#include "tests/solvers/operators_to_solve.hpp"

namespace tessera::testing {
namespace {

Eigen::MatrixXd matrix_of(const std::vector<double>& entries, int n) {
  return Eigen::Map<const Eigen::MatrixXd>(entries.data(), n, n);
}

// Of a ring with springs of different stiffness between neighbors: constants are its null space.
Eigen::MatrixXd ring(int n) {
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) {
    const int j = (i + 1) % n;
    const double stiffness = 1.0 + (i % 5);
    A(i, i) += stiffness;
    A(j, j) += stiffness;
    A(i, j) -= stiffness;
    A(j, i) -= stiffness;
  }
  return A;
}

TEST(DenseInverses, AreInverses) {
  for (const int n : {1, 2, 40}) {
    const Eigen::MatrixXd A = random_spd_matrix(n, 1e4, 3);
    const std::vector<double> entries = dense_inverse(DenseOperator<double>(A), NullSpace::none);
    const Eigen::MatrixXd B = matrix_of(entries, n);
    EXPECT_LT((B * A - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-11);
    EXPECT_EQ(B, B.transpose());
  }
}

// An operator that says its rows, without entries of 0, and is not to be applied.
class OperatorWithRows final : public LinearOperator<double, Host>, public SparseRows<double> {
 public:
  explicit OperatorWithRows(const Eigen::MatrixXd& A) : A_(A) {}
  std::int64_t size() const override { return A_.rows(); }
  void do_apply(const HostVector<double>&, HostVector<double>&) const override {
    ADD_FAILURE() << "the operator was applied";
  }
  void do_diagonal(HostVector<double>&) const override { ADD_FAILURE() << "a diagonal"; }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }
  std::int64_t row_length(std::int64_t row) const override {
    return (A_.row(row).array() != 0.0).count();
  }
  void read_row(std::int64_t row, std::int64_t* columns, double* values) const override {
    for (std::int64_t j = 0; j < A_.cols(); ++j) {
      if (A_(row, j) == 0.0) continue;
      *columns++ = j;
      *values++ = A_(row, j);
    }
  }

 private:
  Eigen::MatrixXd A_;
};

TEST(DenseInverses, TakeTheRowsOfSparseMatrices) {
  const Eigen::MatrixXd A = ring(17) + Eigen::MatrixXd::Identity(17, 17);
  EXPECT_EQ(dense_inverse(OperatorWithRows(A), NullSpace::none),
            dense_inverse(DenseOperator<double>(A), NullSpace::none));
}

TEST(DenseInverses, WithConstantsAsNullSpaceArePseudoInverses) {
  for (const double scale : {1e-20, 1.0, 1e20}) {
    for (const int n : {3, 4, 60}) {
      const Eigen::MatrixXd A = scale * ring(n);
      const Eigen::MatrixXd B =
          matrix_of(dense_inverse(DenseOperator<double>(A), NullSpace::constants), n);
      EXPECT_LT((A * B * A - A).norm(), 1e-12 * A.norm());
      EXPECT_LT((B * A * B - B).norm(), 1e-12 * B.norm());
      EXPECT_LT((B * Eigen::VectorXd::Ones(n)).norm(), 1e-12 * B.norm());
      EXPECT_EQ(B, B.transpose());
    }
  }
}

TEST(DenseInverses, RefuseOperatorsThatAreNotDefinite) {
  Eigen::MatrixXd A = random_spd_matrix(9, 10.0, 5);
  A(3, 3) = -1.0;
  EXPECT_THROW(dense_inverse(DenseOperator<double>(A), NullSpace::none), std::runtime_error);
  EXPECT_THROW(dense_inverse(DenseOperator<double>(-ring(9)), NullSpace::constants),
               std::runtime_error);
  A(3, 3) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(dense_inverse(DenseOperator<double>(A), NullSpace::none), std::runtime_error);
}

template <class T>
Eigen::MatrixXd inverse_on_gpu(const Eigen::MatrixXd& A, NullSpace null_space) {
  const auto n = static_cast<int>(A.rows());
  const std::vector<T> entries =
      to_host(dense_inverse_on_device<T>(OperatorWithRows(A), n, null_space));
  return matrix_of({entries.begin(), entries.end()}, n);
}

TEST(DenseInverses, OnTheGpuAreInverses) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    for (const int n : {1, 2, 31, 32, 33, 64, 100, 729}) {
      const Eigen::MatrixXd A = random_spd_matrix(n, 1e4, 3);
      const Eigen::MatrixXd B = inverse_on_gpu<double>(A, NullSpace::none);
      EXPECT_LT((B * A - Eigen::MatrixXd::Identity(n, n)).norm(), 1e-10) << n;
      EXPECT_EQ(B, B.transpose());
      EXPECT_EQ(B, inverse_on_gpu<double>(A, NullSpace::none));
      EXPECT_EQ(B.cast<float>(), inverse_on_gpu<float>(A, NullSpace::none).cast<float>());
    }
    for (const double scale : {1e-20, 1e20}) {
      const Eigen::MatrixXd A = scale * ring(60);
      // By what the caller says, and by what the matrix shows.
      for (const NullSpace said : {NullSpace::constants, NullSpace::none}) {
        const Eigen::MatrixXd B = inverse_on_gpu<double>(A, said);
        EXPECT_LT((A * B * A - A).norm(), 1e-12 * A.norm());
        EXPECT_LT((B * Eigen::VectorXd::Ones(60)).norm(), 1e-12 * B.norm());
      }
    }
    Eigen::MatrixXd A = random_spd_matrix(70, 10.0, 5);
    for (const double wrong : {-1.0, std::numeric_limits<double>::quiet_NaN()}) {
      A(45, 45) = wrong;
      EXPECT_THROW(inverse_on_gpu<double>(A, NullSpace::none), std::runtime_error);
    }
  }
}

template <class T>
void expect_products(double tolerance) {
  for (const int n : {1, 3, 100, 333}) {
    Eigen::MatrixXd B = random_spd_matrix(n, 10.0, 7);
    const std::vector<double> entries(B.data(), B.data() + B.size());
    const HostVector<T> r = vector_of<T>(random_values(n, 9));
    const Eigen::VectorXd expected = B * eigen_of(r);
    HostVector<T> z = poisoned<T>(n);
    DenseMatrix<T, Host>(entries).apply(r, z);
    EXPECT_LT((eigen_of(z) - expected).norm(), tolerance * expected.norm()) << n;
  }
}

TEST(DenseMatrices, MultiplyVectors) {
  expect_products<double>(1e-13);
  expect_products<float>(1e-5);
}

template <class T>
void expect_products_of_the_host() {
  for (const int n : {1, 31, 32, 33, 1000}) {
    const Eigen::MatrixXd B = random_spd_matrix(n, 10.0, 7);
    const std::vector<double> entries(B.data(), B.data() + B.size());
    const std::vector<double> values = random_values(n, 9);
    const Eigen::VectorXd expected = B * eigen_of(vector_of<T>(values));
    DeviceVector<T> z(n);
    fill(z, std::numeric_limits<T>::quiet_NaN());
    DenseMatrix<T, Device> matrix(DeviceArray<T>(static_cast<std::int64_t>(entries.size())));
    matrix.update(DeviceArray<T>(std::vector<T>(entries.begin(), entries.end())));
    matrix.apply(vector_in<T, Device>(values), z);
    HostVector<T> found(n);
    copy(z, found);
    EXPECT_LT((eigen_of(found) - expected).norm(),
              (sizeof(T) == sizeof(double) ? 1e-13 : 1e-5) * expected.norm())
        << n;
  }
}

TEST(DenseMatrices, OnTheGpuMultiplyVectors) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    expect_products_of_the_host<double>();
    expect_products_of_the_host<float>();
  }
}

}  // namespace
}  // namespace tessera::testing
