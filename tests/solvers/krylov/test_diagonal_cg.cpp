// These tests solve diagonal systems by conjugate gradients, on host and GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "solvers/adding_operator.hpp"
#include "tests/everywhere.hpp"
#include "tests/solvers/diagonal_systems.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

template <class W>
class DiagonalCg : public EverywhereTest<W> {
 protected:
  using Values = Vector<typename W::Scalar, typename W::Space>;

  /// Solves diag(d) x = b from zero.
  static SolveReport solve(const std::vector<double>& d, const std::vector<double>& b, Values& x,
                           const SolveOptions& options) {
    const DiagonalOperator<typename W::Scalar, typename W::Space> a(d);
    x = Values(a.size());
    return cg(a, nullptr, vector_in<typename W::Scalar, typename W::Space>(b), x, options);
  }
};
TYPED_TEST_SUITE(DiagonalCg, Everywhere, NameOfWhere);

TYPED_TEST(DiagonalCg, NeedsAsManyIterationsAsThereAreEigenvalues) {
  const double tolerance = in_precision<typename TypeParam::Scalar>(1e-11, 1e-4);
  for (const int n : {1, 7, 1000, 100003}) {
    const int count = std::min(n, 9);
    const std::vector<double> d = n == 1 ? std::vector<double>{3.0} : eigenvalues(n, count, 100.0);
    const std::vector<double> b = wavy(n);
    SolveOptions options;
    options.relative_tolerance = tolerance;
    int observed = 0;
    options.observer = [&](int iteration, double) {
      EXPECT_EQ(iteration, ++observed);
      return Continue::yes;
    };
    typename TestFixture::Values x;
    const SolveReport report = this->solve(d, b, x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LE(report.iterations, count + 1) << n;
    EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
    EXPECT_EQ(observed, report.iterations);
    EXPECT_LE(report.true_relative_residual, tolerance) << n;
    EXPECT_LE(relative_residual(d, b, x), 1.01 * tolerance) << n;
    EXPECT_NEAR(report.true_relative_residual, relative_residual(d, b, x), 0.01 * tolerance);
  }
}

TYPED_TEST(DiagonalCg, HasAFiniteHistoryAndTheSameAgain) {
  const int n = 5000;
  const std::vector<double> d = eigenvalues(n, n, 3000.0);
  const std::vector<double> b = wavy(n);
  SolveOptions options;
  options.relative_tolerance = in_precision<typename TypeParam::Scalar>(1e-8, 1e-4);
  options.max_iterations = 2000;
  typename TestFixture::Values x;
  const SolveReport report = this->solve(d, b, x, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_GT(report.iterations, 200);
  for (std::size_t i = 1; i < report.history.size(); ++i) {
    EXPECT_TRUE(std::isfinite(report.history[i]));
  }
  EXPECT_GT(report.history[report.history.size() - 2], options.relative_tolerance);
  EXPECT_LE(report.history.back(), options.relative_tolerance);
  // The same bits.
  EXPECT_EQ(this->solve(d, b, x, options).history, report.history);
}

TYPED_TEST(DiagonalCg, PreconditionersOfBothKindsGiveTheSolution) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const int n = 3001;
  const std::vector<double> d = eigenvalues(n, n, 1e6);
  const std::vector<double> b = wavy(n);
  std::vector<double> inverse;
  inverse.reserve(n);
  for (const double entry : d) inverse.push_back(1.0 / entry);
  const DiagonalOperator<T, Space> a(d);
  const Jacobi<T, Space> jacobi(a);
  const OpaqueScaling<T, Space> opaque(inverse);
  SolveOptions options;
  options.relative_tolerance = in_precision<typename TypeParam::Scalar>(1e-12, 1e-5);
  for (const Preconditioning<T, Space> m :
       {Preconditioning<T, Space>(&jacobi), Preconditioning<T, Space>(&opaque)}) {
    Vector<T, Space> x(n);
    const SolveReport report = cg(a, m, vector_in<T, Space>(b), x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LE(report.iterations, 3);
    EXPECT_LE(relative_residual(d, b, x), 1.2 * options.relative_tolerance);
  }
}

// A diagonal operator that adds to what y holds.
template <class T, class Space>
class AddingDiagonal final : public AddingOperator<T, Space> {
 public:
  explicit AddingDiagonal(const std::vector<double>& entries)
      : scaling_(entries), product_(scaling_.size()) {}

  std::int64_t size() const override { return scaling_.size(); }
  bool adds(int /*vectors_of_pass*/) const override { return true; }
  void do_apply(const Vector<T, Space>& x, Vector<T, Space>& y) const override {
    scaling_.apply(x, y);
  }
  void do_diagonal(Vector<T, Space>& d) const override { scaling_.diagonal(d); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  void do_apply_to_zeros(const Vector<T, Space>& x, Vector<T, Space>& y) const override {
    scaling_.apply(x, product_);
    axpy(T{1}, product_, y);
  }

  DiagonalOperator<T, Space> scaling_;
  mutable Vector<T, Space> product_;
};

// On the GPU, vectors that its multiprocessors can hold during an iteration have other kernels than
// longer ones; 1400033 entries are too many for any so far.
TYPED_TEST(DiagonalCg, VectorsOfAnyLengthGiveTheSolutionAndTheSameAgain) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  SolveOptions options;
  options.relative_tolerance = in_precision<T>(1e-11, 1e-4);
  const std::vector<int> sizes = std::is_same_v<Space, Device>
                                     ? std::vector<int>{2, 513, 4097, 700001, 1400033}
                                     : std::vector<int>{2, 513, 4097};
  for (const int n : sizes) {
    const std::vector<double> d = eigenvalues(n, 9, 100.0);
    std::vector<double> other;
    other.reserve(n);
    for (int i = 0; i < n; ++i) other.push_back(1.0 + i % 3);
    const Vector<T, Space> b = vector_in<T, Space>(wavy(n));
    const DiagonalOperator<T, Space> whole(d);
    const AddingDiagonal<T, Space> adding(d);
    const Jacobi<T, Space> jacobi(DiagonalOperator<T, Space>{other});
    for (const LinearOperator<T, Space>* a :
         {static_cast<const LinearOperator<T, Space>*>(&whole),
          static_cast<const LinearOperator<T, Space>*>(&adding)}) {
      for (const Preconditioning<T, Space> m :
           {kNone<T, Space>, Preconditioning<T, Space>(&jacobi)}) {
        SCOPED_TRACE(n);
        Vector<T, Space> x(n);
        const SolveReport report = cg(*a, m, b, x, options);
        EXPECT_EQ(report.status, SolveStatus::converged);
        EXPECT_LE(report.iterations, 10);
        EXPECT_LE(relative_residual(d, wavy(n), x), 1.2 * options.relative_tolerance);
        Vector<T, Space> again(n);
        EXPECT_EQ(cg(*a, m, b, again, options).history, report.history);
      }
    }
  }
}

TYPED_TEST(DiagonalCg, StopsAtTheIterationLimit) {
  const int n = 2000;
  SolveOptions options;
  options.max_iterations = 17;
  typename TestFixture::Values x;
  const SolveReport report = this->solve(eigenvalues(n, n, 1e6), wavy(n), x, options);
  EXPECT_EQ(report.status, SolveStatus::iteration_limit);
  EXPECT_EQ(report.iterations, 17);
  EXPECT_EQ(report.history.size(), 18U);
}

// A diagonal operator that counts its applications where it computes, so that those of a replayed
// graph count.
template <class T, class Space>
class CountingOperator final : public LinearOperator<T, Space> {
 public:
  explicit CountingOperator(const std::vector<double>& entries)
      : scaling_(entries), one_(vector_in<T, Space>({1.0})), count_(1) {}

  std::int64_t size() const override { return scaling_.size(); }
  void do_apply(const Vector<T, Space>& x, Vector<T, Space>& y) const override {
    scaling_.apply(x, y);
    axpy(T{1}, one_, count_);
  }
  void do_diagonal(Vector<T, Space>& d) const override { scaling_.diagonal(d); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

  int applications() const { return static_cast<int>(on_host(count_)[0]); }

 private:
  DiagonalOperator<T, Space> scaling_;
  Vector<T, Space> one_;
  mutable Vector<T, Space> count_;
};

TYPED_TEST(DiagonalCg, AppliesNothingBeyondTheIterationLimit) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const int n = 2000;
  for (const int limit : {1, 2, 17, 137, 300}) {
    const CountingOperator<T, Space> a(eigenvalues(n, n, 1e6));
    SolveOptions options;
    options.max_iterations = limit;
    Vector<T, Space> x(n);
    const SolveReport report = cg(a, nullptr, vector_in<T, Space>(wavy(n)), x, options);
    EXPECT_EQ(report.status, SolveStatus::iteration_limit);
    EXPECT_EQ(report.iterations, limit);
    EXPECT_GE(a.applications(), limit);
    // The residual at the beginning and at the end.
    EXPECT_LE(a.applications(), limit + 2);
  }
}

TYPED_TEST(DiagonalCg, ReportsTheResidualWhereTheObserverEndsIt) {
  const int n = 2000;
  const std::vector<double> d = eigenvalues(n, n, 1e6);
  const std::vector<double> b = wavy(n);
  SolveOptions options;
  options.max_iterations = 100000;
  options.observer = [](int iteration, double) {
    return iteration == 5 ? Continue::no : Continue::yes;
  };
  typename TestFixture::Values x;
  const SolveReport report = this->solve(d, b, x, options);
  EXPECT_EQ(report.status, SolveStatus::interrupted);
  EXPECT_GE(report.iterations, 5);
  EXPECT_NEAR(report.true_relative_residual, relative_residual(d, b, x),
              in_precision<typename TypeParam::Scalar>(1e-12, 1e-4));
}

TYPED_TEST(DiagonalCg, EndsWhereTheMatrixIsIndefiniteOrNotFinite) {
  const int n = 2000;
  std::vector<double> d = eigenvalues(n, n, 1e6);
  for (double& entry : d) entry = -entry;
  SolveOptions options;
  options.max_iterations = 100000;
  typename TestFixture::Values x;
  const SolveReport report = this->solve(d, wavy(n), x, options);
  EXPECT_EQ(report.status, SolveStatus::indefinite);
  EXPECT_EQ(report.iterations, 0);
  d[77] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(this->solve(d, wavy(n), x, options).status, SolveStatus::not_finite);
}

// The recurrence converges, the true residual does not.
TYPED_TEST(DiagonalCg, StagnatesBeyondWhatThePrecisionReaches) {
  const int n = 2000;
  SolveOptions options;
  options.relative_tolerance = in_precision<typename TypeParam::Scalar>(1e-30, 1e-12);
  options.max_iterations = 20000;
  typename TestFixture::Values x;
  const double largest = in_precision<typename TypeParam::Scalar>(100.0, 1e5);
  EXPECT_EQ(this->solve(eigenvalues(n, n, largest), wavy(n), x, options).status,
            SolveStatus::stagnated);
}

TYPED_TEST(DiagonalCg, StartsFromTheGuess) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const int n = 321;
  const std::vector<double> d = eigenvalues(n, 7, 10.0);
  const std::vector<double> b = wavy(n);
  std::vector<double> exact;
  exact.reserve(n);
  for (int i = 0; i < n; ++i) exact.push_back(b[i] / d[i]);
  const DiagonalOperator<T, Space> a(d);
  auto x = vector_in<T, Space>(exact);
  SolveOptions options;
  options.reference_norm = 1.0;
  options.relative_tolerance = in_precision<typename TypeParam::Scalar>(1e-8, 1e-5);
  const SolveReport report = cg(a, nullptr, vector_in<T, Space>(b), x, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(report.iterations, 0);
}

template <class W>
class VectorsEverywhere : public EverywhereTest<W> {};
TYPED_TEST_SUITE(VectorsEverywhere, Everywhere, NameOfWhere);

TYPED_TEST(VectorsEverywhere, DotIsTheSumAndTheSameEveryTime) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  for (const int n : {1, 255, 1025, 2000003}) {
    const HostVector<T> values = vector_of<T>(wavy(n));
    std::vector<double> fewer = eigenvalues(n + 1, 5, 2.0);
    fewer.resize(static_cast<std::size_t>(n));
    const HostVector<T> other = vector_of<T>(fewer);
    double expected = 0.0;
    for (int i = 0; i < n; ++i) {
      expected += static_cast<double>(values[i]) * static_cast<double>(other[i]);
    }
    const auto x = in_space<Space>(values);
    const auto y = in_space<Space>(other);
    const double first = dot(x, y);
    EXPECT_NEAR(first, expected, 1e-10 * n);
    for (int repetition = 0; repetition < 5; ++repetition) EXPECT_EQ(dot(x, y), first);
  }
}

}  // namespace
}  // namespace tessera::testing
