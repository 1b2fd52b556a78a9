// These tests use solvers more than once, on host and GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "tests/everywhere.hpp"
#include "tests/solvers/operators_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

constexpr std::int64_t kSize = 2000;

template <class T, class Space>
Vector<T, Space> vector_of_function(double (*value)(std::int64_t)) {
  std::vector<double> values(kSize);
  for (std::int64_t i = 0; i < kSize; ++i) values[i] = value(i);
  return vector_in<T, Space>(values);
}

double entry(std::int64_t i) { return 1.0 + static_cast<double>(i % 23); }
double wave(std::int64_t i) { return std::sin(0.1 * static_cast<double>(i)); }
double other_wave(std::int64_t i) { return std::cos(0.37 * static_cast<double>(i)); }

/// y = (D + shift) x; a launch on the GPU has the shift of its time.
template <class T, class Space>
class ShiftedDiagonal final : public LinearOperator<T, Space> {
 public:
  using V = Vector<T, Space>;

  void set_shift(double shift) { shift_ = static_cast<T>(shift); }

  std::int64_t size() const override { return kSize; }
  std::string name() const override { return "shifted diagonal"; }
  void do_apply(const V& x, V& y) const override {
    multiply(entries_, x, y);
    axpy(shift_, x, y);
  }
  void do_diagonal(V& d) const override {
    fill(d, shift_);
    axpy(T{1}, entries_, d);
  }
  Cost cost() const override { return {}; }
  std::int64_t bytes() const override { return 0; }

 private:
  V entries_ = vector_of_function<T, Space>(entry);
  T shift_{0};
};

/// An approximate inverse that does not say that it is diagonal.
template <class T, class Space>
class HiddenJacobi final : public Preconditioner<T, Space> {
 public:
  explicit HiddenJacobi(const LinearOperator<T, Space>& a) : jacobi_(a) {}
  std::int64_t size() const override { return jacobi_.size(); }
  void do_apply(const Vector<T, Space>& r, Vector<T, Space>& z) const override {
    jacobi_.apply(r, z);
  }

 private:
  Jacobi<T, Space> jacobi_;
};

constexpr SolverMethod kMethods[] = {SolverMethod::cg,           SolverMethod::single_reduction_cg,
                                     SolverMethod::pipelined_cg, SolverMethod::flexible_cg,
                                     SolverMethod::richardson,   SolverMethod::flexible_gmres,
                                     SolverMethod::bicgstab};
constexpr double kOmega = 0.08;

SolveOptions some_iterations() {
  SolveOptions options;
  options.relative_tolerance = 1e-5;
  options.max_iterations = 60;
  return options;
}

template <class W>
class Solvers : public EverywhereTest<W> {
 protected:
  /// Calls f(method, operator, preconditioner).
  template <class F>
  static void for_each_solver(F&& f) {
    using T = typename W::Scalar;
    using Space = typename W::Space;
    ShiftedDiagonal<T, Space> a;
    // Not the inverse, which would leave nothing to do.
    a.set_shift(2.0);
    const Jacobi<T, Space> diagonal(a);
    const HiddenJacobi<T, Space> general(a);
    a.set_shift(0.0);
    const std::vector<const Preconditioner<T, Space>*> preconditioners = {nullptr, &diagonal,
                                                                          &general};
    for (const SolverMethod method : kMethods) {
      for (const Preconditioner<T, Space>* const m : preconditioners) {
        SCOPED_TRACE(::testing::Message() << "method " << static_cast<int>(method)
                                          << ", preconditioner " << static_cast<int>(kind_of(m)));
        f(method, a, m);
      }
    }
  }
  /// Calls f(solver, b, another b, alone), where alone(b) is the report and the solution of a
  /// solver that solves once, all on one thread.
  template <class F>
  static void for_each_repeated_solver(F&& f) {
    using T = typename W::Scalar;
    using Space = typename W::Space;
    const ThreadsInUse one(1);
    const auto b = vector_of_function<T, Space>(wave);
    const auto other = vector_of_function<T, Space>(other_wave);
    for_each_solver([&](SolverMethod method, const auto& a, const auto* m) {
      const auto alone = [&](const Vector<T, Space>& right) {
        Vector<T, Space> x(kSize);
        SolveReport report = solve_by(method, a, m, right, x, some_iterations(), kOmega);
        return std::pair(std::move(report), values_of(x));
      };
      f(*make_solver(method, a, m, kOmega), b, other, alone);
    });
  }
};
TYPED_TEST_SUITE(Solvers, Everywhere, NameOfWhere);

// As from zeros that are not known to be zeros.
TYPED_TEST(Solvers, StartFromZero) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const auto b = vector_of_function<T, Space>(wave);
  this->for_each_solver([&](SolverMethod method, const auto& a, const auto* m) {
    const auto solver = make_solver(method, a, m, kOmega);
    SolveOptions options = some_iterations();
    Vector<T, Space> x(kSize);
    const SolveReport report = solver->solve(b, x, options);
    options.guess = Guess::zero;
    Vector<T, Space> from_zero(kSize);
    const SolveReport known = solver->solve(b, from_zero, options);
    EXPECT_EQ(known.iterations, report.iterations);
    EXPECT_EQ(known.status, report.status);
    EXPECT_EQ(values_of(from_zero), values_of(x));
  });
}

// With other right-hand sides and other vectors in between, to the last bit.
TYPED_TEST(Solvers, SolveAgainAsAtFirst) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  this->for_each_repeated_solver([](auto& solver, const auto& b, const auto& other, auto&& alone) {
    const auto [first, expected] = alone(b);
    EXPECT_GT(first.iterations, 3);
    Vector<T, Space> x(kSize);
    Vector<T, Space> elsewhere(kSize);
    SolveOptions few = some_iterations();
    few.max_iterations = 2;
    for (int repetition = 0; repetition < 3; ++repetition) {
      fill(x, T{0});
      EXPECT_EQ(solver.solve(b, x, some_iterations()).history, first.history);
      EXPECT_EQ(values_of(x), expected);
      fill(elsewhere, T{0});
      EXPECT_EQ(solver.solve(other, elsewhere, few).iterations, 2);
      if (repetition == 1) solver.update();
    }
  });
}

// A graph on the GPU that reads b is of the b of its time.
TYPED_TEST(Solvers, SolveForAnotherRightHandSideIntoTheSameVector) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  this->for_each_repeated_solver([](auto& solver, const auto& b, const auto& other, auto&& alone) {
    const auto [report, expected] = alone(other);
    Vector<T, Space> x(kSize);
    solver.solve(b, x, some_iterations());
    fill(x, T{0});
    EXPECT_EQ(solver.solve(other, x, some_iterations()).history, report.history);
    EXPECT_EQ(values_of(x), expected);
  });
}

TYPED_TEST(Solvers, AllocateNothingInASolve) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  if constexpr (std::is_same_v<Space, Device>) {
    const auto b = vector_of_function<T, Space>(wave);
    this->for_each_solver([&](SolverMethod method, const auto& a, const auto* m) {
      Vector<T, Space> x(kSize);
      // Larger than what the tests before have held at a time.
      const DeviceArray<char> most(peak_device_bytes());
      const auto solver = make_solver(method, a, m, kOmega);
      const std::int64_t before = peak_device_bytes();
      solver->solve(b, x, some_iterations());
      EXPECT_EQ(peak_device_bytes(), before);
    });
  }
}

// A graph on the GPU has the operator of its time.
TYPED_TEST(Solvers, SolveWithAnotherOperatorAfterAnUpdate) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  const auto b = vector_of_function<T, Space>(wave);
  for (const SolverMethod method : kMethods) {
    if (method == SolverMethod::richardson) continue;
    SCOPED_TRACE(static_cast<int>(method));
    ShiftedDiagonal<T, Space> a;
    const auto solver = make_solver<T, Space>(method, a, nullptr);
    Vector<T, Space> x(kSize);
    for (const double shift : {0.0, 40.0, 3.0}) {
      a.set_shift(shift);
      solver->update();
      fill(x, T{0});
      EXPECT_EQ(solver->solve(b, x, some_iterations()).status, SolveStatus::converged);
      const std::vector<double> solution = values_of(x);
      for (std::int64_t i = 0; i < kSize; ++i) {
        ASSERT_NEAR(solution[i], wave(i) / (entry(i) + shift), 1e-4) << i << ", shift " << shift;
      }
    }
  }
}

TYPED_TEST(Solvers, RefuseVectorsOfAnotherSize) {
  using T = typename TypeParam::Scalar;
  using Space = typename TypeParam::Space;
  if constexpr (std::is_same_v<Space, Host>) {
    const ShiftedDiagonal<T, Space> a;
    const auto solver = make_cg<T, Space>(a, nullptr);
    const auto b = vector_of_function<T, Space>(wave);
    Vector<T, Space> x(kSize);
    Vector<T, Space> shorter(kSize - 1);
    EXPECT_DEATH(solver->solve(shorter, x, {}), "b.size");
    EXPECT_DEATH(solver->solve(b, shorter, {}), "x.size");
    EXPECT_DEATH(solver->solve(x, x, {}), "&b != &x");
  }
}

}  // namespace
}  // namespace tessera::testing
