// These tests solve systems whose inverse is known, exactly or nearly.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "solvers/krylov/cg.hpp"
#include "solvers/krylov/inverse_solver.hpp"
#include "tests/everywhere.hpp"
#include "tests/solvers/diagonal_systems.hpp"

namespace tessera::testing {
namespace {

constexpr int kSize = 20'011;
constexpr double kLargest = 50.0;

/// Counts its applications.
template <class T, class Space>
class Counted final : public LinearOperator<T, Space> {
 public:
  explicit Counted(const LinearOperator<T, Space>& a) : a_(a) {}
  std::int64_t size() const override { return a_.size(); }
  void do_apply(const Vector<T, Space>& x, Vector<T, Space>& y) const override {
    ++applications;
    a_.apply(x, y);
  }
  void do_diagonal(Vector<T, Space>& d) const override { a_.diagonal(d); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

  mutable int applications = 0;

 private:
  const LinearOperator<T, Space>& a_;
};

/// r = b - D x and r.r in one call.
template <class T, class Space>
class WithResidual final : public LinearOperator<T, Space>, public FusedOperations<T, Space> {
 public:
  using V = Vector<T, Space>;
  explicit WithResidual(const LinearOperator<T, Space>& a) : a_(a), sum_(1), product_(a.size()) {}
  std::int64_t size() const override { return a_.size(); }
  void do_apply(const V& x, V& y) const override { a_.apply(x, y); }
  void do_diagonal(V& d) const override { a_.diagonal(d); }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }
  const FusedOperations<T, Space>* fused() const override { return this; }
  void do_apply_dot(const V& /*x*/, V& /*y*/, double* /*sums*/) const override {
    FAIL() << "not asked for";
  }
  void do_residual(const V& b, const V& x, V& r, double* rr) const override {
    ++residuals;
    a_.apply(x, product_);
    const T factors[] = {T{1}, T{-1}};
    const V* const vectors[] = {&b, &product_};
    combine<T>(factors, vectors, r);
    const double square = dot(r, r);
    if constexpr (std::is_same_v<Space, Host>) {
      *rr = square;
    } else {
      copy_to_device(&square, sizeof(square), rr);
    }
  }

  mutable int residuals = 0;

 private:
  const LinearOperator<T, Space>& a_;
  Vector<double, Space> sum_;
  mutable V product_;
};

std::vector<double> inverse_of(const std::vector<double>& d, double error) {
  std::vector<double> inverse;
  for (std::size_t i = 0; i < d.size(); ++i) {
    inverse.push_back((1.0 + error * std::sin(0.1 * static_cast<double>(i))) / d[i]);
  }
  return inverse;
}

template <class W>
class InverseSolvers : public EverywhereTest<W> {
 protected:
  using Value = typename W::Scalar;
  using Memory = typename W::Space;
  using V = Vector<Value, Memory>;

  static constexpr double kTolerance = in_precision<Value>(1e-13, 1e-5);

  InverseSolvers() : d_(eigenvalues(kSize, kSize, kLargest)), values_(wavy(kSize)) {}

  // A and M exist where there is a GPU only.
  void SetUp() override {
    EverywhereTest<W>::SetUp();
    if (this->IsSkipped()) return;
    a_ = std::make_unique<DiagonalOperator<Value, Memory>>(d_);
    counted_ = std::make_unique<Counted<Value, Memory>>(*a_);
    b_ = vector_in<Value, Memory>(values_);
  }

  // With CG for what is left, counted.
  std::unique_ptr<InverseSolver<Value, Memory>> solver(const LinearOperator<Value, Memory>& a,
                                                       double error) {
    m_ = std::make_unique<OpaqueScaling<Value, Memory>>(inverse_of(d_, error));
    return std::make_unique<InverseSolver<Value, Memory>>(a, *m_, [this, &a] {
      ++others_;
      return make_cg<Value, Memory>(a, m_.get());
    });
  }

  static SolveOptions options(double tolerance = kTolerance) {
    SolveOptions made;
    made.relative_tolerance = tolerance;
    made.guess = Guess::zero;
    return made;
  }

  double residual_of(const V& x) const { return relative_residual(d_, values_, x); }

  std::vector<double> d_;
  std::vector<double> values_;
  std::unique_ptr<DiagonalOperator<Value, Memory>> a_;
  std::unique_ptr<Counted<Value, Memory>> counted_;
  std::unique_ptr<OpaqueScaling<Value, Memory>> m_;
  V b_;
  int others_ = 0;
};
TYPED_TEST_SUITE(InverseSolvers, Everywhere, NameOfWhere);

TYPED_TEST(InverseSolvers, ApplyOperatorAndInverseOnce) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const auto solver = this->solver(*this->counted_, 0.0);
  for (const double norm : {0.0, std::sqrt(dot(this->b_, this->b_))}) {
    Vector<T, Space> x = poisoned<T, Space>(kSize);
    SolveOptions options = this->options();
    options.reference_norm = norm;
    this->counted_->applications = 0;
    const SolveReport report = solver->solve(this->b_, x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_EQ(report.iterations, 1);
    EXPECT_EQ(this->counted_->applications, 1);
    ASSERT_EQ(report.history.size(), 2U);
    EXPECT_EQ(report.history.front(), 1.0);
    EXPECT_EQ(report.history.back(), report.true_relative_residual);
    EXPECT_LE(report.true_relative_residual, this->kTolerance);
    EXPECT_NEAR(report.reference_norm, std::sqrt(dot(this->b_, this->b_)),
                1e-12 * report.reference_norm);
    EXPECT_LE(this->residual_of(x), this->kTolerance);
  }
  EXPECT_EQ(this->others_, 0);
}

TYPED_TEST(InverseSolvers, TakeTheFusedResidual) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const WithResidual<T, Space> fused(*this->a_);
  const auto solver = this->solver(fused, 0.0);
  Vector<T, Space> x = poisoned<T, Space>(kSize);
  const SolveReport report = solver->solve(this->b_, x, this->options());
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_EQ(fused.residuals, 1);
  EXPECT_LE(this->residual_of(x), this->kTolerance);
}

TYPED_TEST(InverseSolvers, GoOnWithTheOtherMethodWhereTheInverseIsNotOne) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const auto solver = this->solver(*this->a_, 1e-2);
  for (int solve = 1; solve <= 2; ++solve) {
    Vector<T, Space> x = poisoned<T, Space>(kSize);
    int last = 0;
    SolveOptions options = this->options(1e-5);
    options.observer = [&](int iteration, double) {
      EXPECT_EQ(iteration, last + 1);
      last = iteration;
      return Continue::yes;
    };
    const SolveReport report = solver->solve(this->b_, x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_GT(report.iterations, 1);
    EXPECT_EQ(last, report.iterations);
    EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
    EXPECT_GT(report.history[1], 1e-4);
    EXPECT_LT(report.history[1], 1e-2);
    EXPECT_LE(this->residual_of(x), 1.1e-5);
    EXPECT_EQ(this->others_, 1) << "it is made once";
  }
}

TYPED_TEST(InverseSolvers, EndAsOtherSolversDo) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const auto solver = this->solver(*this->a_, 1e-2);
  SolveOptions options = this->options(1e-6);
  Vector<T, Space> x = poisoned<T, Space>(kSize);
  options.max_iterations = 1;
  EXPECT_EQ(solver->solve(this->b_, x, options).status, SolveStatus::iteration_limit);
  options.max_iterations = 100;
  options.observer = [](int, double) { return Continue::no; };
  const SolveReport stopped = solver->solve(this->b_, x, options);
  EXPECT_EQ(stopped.status, SolveStatus::interrupted);
  EXPECT_EQ(stopped.iterations, 1);
  EXPECT_EQ(this->others_, 0);

  options = this->options();
  fill(this->b_, T{0});
  const SolveReport of_zero = solver->solve(this->b_, x, options);
  EXPECT_EQ(of_zero.status, SolveStatus::converged);
  EXPECT_EQ(of_zero.iterations, 0);
  EXPECT_EQ(dot(x, x), 0.0);

  fill(this->b_, std::numeric_limits<T>::quiet_NaN());
  EXPECT_EQ(solver->solve(this->b_, x, options).status, SolveStatus::not_finite);
}

TYPED_TEST(InverseSolvers, TakeAGuessWhereTheToleranceIsRelativeToItsResidual) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const auto solver = this->solver(*this->a_, 0.0);
  Vector<T, Space> x = vector_in<T, Space>(inverse_of(this->d_, 0.0));
  multiply(x, this->b_, x);
  axpy(static_cast<T>(1e-3), this->b_, x);
  SolveOptions options;
  options.relative_tolerance = 1e-2;
  const SolveReport report = solver->solve(this->b_, x, options);
  EXPECT_EQ(report.status, SolveStatus::converged);
  EXPECT_LT(report.reference_norm, 0.1 * std::sqrt(dot(this->b_, this->b_)));
  EXPECT_EQ(this->others_, 1);
}

}  // namespace
}  // namespace tessera::testing
