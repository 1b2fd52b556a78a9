// These tests solve a large diagonal system, on host and GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/everywhere.hpp"
#include "tests/solvers/nonlinear/bratu.hpp"

namespace tessera::testing {
namespace {

/// d_i u_i + u_i^3 = b_i with the solution s_i.
template <class Space>
class Cubes final : public NonlinearSystem<Space> {
 public:
  using V = Vector<double, Space>;

  Cubes(std::int64_t n, NonlinearMethod method)
      : method_(method),
        solution_(entries(n, [](double i) { return std::sin(i); })),
        d_(entries(n, [](double i) { return 4.0 + std::cos(0.1 * i); })),
        b_(n),
        square_(n),
        inverse_(n) {
    V zero(n);
    residual(solution_, zero);
    copy(zero, b_);
  }

  std::int64_t size() const override { return d_.size(); }
  void residual(const V& u, V& r) override {
    multiply(u, u, square_);
    axpy(1.0, d_, square_);
    multiply(square_, u, r);
    axpy(-1.0, b_, r);
  }
  void linearize(const V& u) override {
    multiply(u, u, inverse_);
    aypx(d_, method_ == NonlinearMethod::newton ? 3.0 : 1.0, inverse_);
    invert_entries(inverse_);
  }
  SolveReport solve(double, const V& b, V& x) override {
    multiply(inverse_, b, x);
    return answered(SolveStatus::converged, 1);
  }
  const V& solution() const { return solution_; }

 private:
  template <class Value>
  static V entries(std::int64_t n, Value value) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(static_cast<double>(i));
    return vector_in<double, Space>(values);
  }

  NonlinearMethod method_;
  V solution_, d_, b_, square_, inverse_;
};

template <class W>
class NonlinearSolves : public EverywhereTest<W> {};
TYPED_TEST_SUITE(NonlinearSolves, Everywhere, NameOfWhere);

TYPED_TEST(NonlinearSolves, FindTheRoot) {
  using Space = typename TypeParam::Space;
  if constexpr (std::is_same_v<typename TypeParam::Scalar, double>) {
    for (const NonlinearMethod method : {NonlinearMethod::newton, NonlinearMethod::picard}) {
      for (const std::int64_t n : {1, 2, 30011}) {
        Cubes<Space> cubes(n, method);
        Vector<double, Space> u(n);
        const NonlinearReport report = solve_nonlinear<Space>(cubes, {.method = method}, u);
        EXPECT_EQ(report.status, NonlinearStatus::converged) << report.failure;
        EXPECT_LT(report.iterations, 30);
        const std::vector<double> found = values_of(u);
        const std::vector<double> expected = values_of(cubes.solution());
        for (std::size_t i = 0; i < found.size(); ++i) {
          ASSERT_NEAR(found[i], expected[i], 1e-8) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tessera::testing
