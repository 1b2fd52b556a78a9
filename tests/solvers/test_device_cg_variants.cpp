// These tests compare the variants of CG on the GPU with those of the host.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tests/device_test.hpp"
#include "tests/solvers/device_operators_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

constexpr std::array<SolverMethod, 4> kAll = {SolverMethod::cg, SolverMethod::single_reduction_cg,
                                              SolverMethod::pipelined_cg,
                                              SolverMethod::flexible_cg};

// A system with a known matrix and one preconditioner of each kind.
template <class T>
class Case {
 public:
  Case(int n, double largest)
      : d_(eigenvalues(n, n, largest)), b_(wavy(n)), a_(d_), jacobi_(a_), opaque_(scaling()) {}

  const DeviceDiagonal<T>& a() const { return a_; }
  int size() const { return static_cast<int>(b_.size()); }
  DeviceVector<T> b() const { return device_vector<T>(b_); }
  std::array<const Preconditioner<T, Device>*, 3> preconditioners() const {
    return {nullptr, &jacobi_, &opaque_};
  }
  double residual_of(const DeviceVector<T>& x) const {
    HostVector<T> solution(size());
    copy(x, solution);
    return residual<T>(d_, b_, solution);
  }

 private:
  // Not the inverse, so that there is something to iterate.
  std::vector<double> scaling() const {
    std::vector<double> values;
    values.reserve(d_.size());
    for (const double entry : d_) values.push_back(1.0 / std::sqrt(entry));
    return values;
  }

  std::vector<double> d_;
  std::vector<double> b_;
  DeviceDiagonal<T> a_;
  Jacobi<T, Device> jacobi_;
  OpaqueScaling<T> opaque_;
};

template <class T>
void expect_solutions(double tolerance) {
  for (const int n : {1, 5, 1000, 40003}) {
    const Case<T> tested(n == 1 ? 2 : n, 100.0);
    for (const Preconditioner<T, Device>* m : tested.preconditioners()) {
      SolveOptions options;
      options.relative_tolerance = tolerance;
      DeviceVector<T> standard_x(tested.size());
      const SolveReport standard = cg<T>(tested.a(), m, tested.b(), standard_x, options);
      ASSERT_EQ(standard.status, SolveStatus::converged);
      for (const SolverMethod variant : kAll) {
        for (const int interval : {0, 5}) {
          SCOPED_TRACE(::testing::Message()
                       << n << " unknowns, variant " << static_cast<int>(variant)
                       << ", preconditioner " << static_cast<int>(kind_of(m)) << ", interval "
                       << interval);
          options.replacement_interval = interval;
          DeviceVector<T> x(tested.size());
          const SolveReport report =
              solve_by<T, Device>(variant, tested.a(), m, tested.b(), x, options);
          EXPECT_EQ(report.status, SolveStatus::converged);
          EXPECT_NEAR(report.iterations, standard.iterations, 4 + standard.iterations / 10);
          EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
          EXPECT_LE(tested.residual_of(x), 1.2 * tolerance);
          DeviceVector<T> again(tested.size());
          EXPECT_EQ(
              (solve_by<T, Device>(variant, tested.a(), m, tested.b(), again, options).history),
              report.history);
        }
      }
    }
  }
}

TEST(DeviceCgVariants, GiveTheSolutionInDouble) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) expect_solutions<double>(1e-10);
}

TEST(DeviceCgVariants, GiveTheSolutionInFloat) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) expect_solutions<float>(1e-5);
}

TEST(DeviceCgVariants, HaveAnXOfTheirIterationAtTheLimit) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const Case<double> tested(3000, 1e4);
    for (const Preconditioner<double, Device>* m : tested.preconditioners()) {
      for (const int most : {1, 2, 3, 20}) {
        SolveOptions options;
        options.relative_tolerance = 1e-300;
        options.max_iterations = most;
        for (const SolverMethod variant : kAll) {
          DeviceVector<double> x(tested.size());
          const SolveReport report =
              solve_by<double, Device>(variant, tested.a(), m, tested.b(), x, options);
          // M A = I: nothing is left to iterate on.
          if (report.true_relative_residual < 1e-12) continue;
          EXPECT_EQ(report.iterations, most);
          EXPECT_NEAR(report.history.back(), tested.residual_of(x), 1e-9)
              << static_cast<int>(variant) << ", " << most << " iterations";
        }
      }
    }
  }
}

TEST(DeviceCgVariants, EndAsOnTheHost) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    for (const SolverMethod variant : kAll) {
      const auto status_of = [&](const std::vector<double>& diagonal, const SolveOptions& options) {
        const DeviceDiagonal<double> a(diagonal);
        const int n = static_cast<int>(diagonal.size());
        DeviceVector<double> x(n);
        const DeviceVector<double> b = device_vector<double>(std::vector<double>(n, 1.0));
        return solve_by<double, Device>(variant, a, nullptr, b, x, options).status;
      };
      SCOPED_TRACE(static_cast<int>(variant));
      EXPECT_EQ(status_of({-1, -2, -3}, {}), SolveStatus::indefinite);
      EXPECT_EQ(status_of({4, 3, -0.5}, {}), SolveStatus::indefinite);
      EXPECT_EQ(status_of({1, 2, std::numeric_limits<double>::quiet_NaN()}, {}),
                SolveStatus::not_finite);
      EXPECT_EQ(status_of({1, 1, 1}, {}), SolveStatus::converged);
      SolveOptions limited;
      limited.max_iterations = 7;
      EXPECT_EQ(status_of(eigenvalues(500, 500, 1e5), limited), SolveStatus::iteration_limit);
      SolveOptions stopped;
      stopped.observer = [](int iteration, double) {
        return iteration == 4 ? Continue::no : Continue::yes;
      };
      EXPECT_EQ(status_of(eigenvalues(500, 500, 1e5), stopped), SolveStatus::interrupted);
      SolveOptions beyond;
      beyond.relative_tolerance = 1e-30;
      beyond.max_iterations = 20000;
      EXPECT_EQ(status_of(eigenvalues(50, 50, 100.0), beyond), SolveStatus::stagnated);
    }
  }
}

// A replacement of the residual may be queued behind the iteration that fails.
TEST(DeviceCgVariants, AreIndefiniteWhereTheResidualIsReplacedAfterwards) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const DeviceDiagonal<double> a({4, 3, 2, -0.5, 1});
    const OpaqueScaling<double> m({0.3, 0.2, 0.5, 0.7, 0.9});
    const DeviceVector<double> b = device_vector<double>({1, 2, 3, 4, 5});
    for (const SolverMethod variant : kAll) {
      for (const int interval : {0, 1, 2, 3}) {
        SCOPED_TRACE(static_cast<int>(variant) * 10 + interval);
        SolveOptions options;
        options.replacement_interval = interval;
        DeviceVector<double> x(b.size());
        EXPECT_EQ((solve_by<double, Device>(variant, a, &m, b, x, options).status),
                  SolveStatus::indefinite);
      }
    }
  }
}

TEST(DeviceCgVariants, FlexibleCgWithASymmetricPreconditionerIsCg) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const Case<double> tested(2000, 100.0);
    SolveOptions options;
    options.max_iterations = 6;
    options.relative_tolerance = 1e-300;
    DeviceVector<double> x(tested.size());
    DeviceVector<double> y(tested.size());
    const SolveReport standard =
        cg<double>(tested.a(), tested.preconditioners()[2], tested.b(), x, options);
    const SolveReport flexible =
        flexible_cg<double>(tested.a(), tested.preconditioners()[2], tested.b(), y, options);
    ASSERT_EQ(standard.history.size(), flexible.history.size());
    for (std::size_t k = 0; k < standard.history.size(); ++k) {
      EXPECT_NEAR(standard.history[k], flexible.history[k], 1e-12);
    }
  }
}

TEST(DeviceRichardson, IsTheHostsIteration) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const Case<double> tested(3000, 10.0);
    for (const Preconditioner<double, Device>* m : tested.preconditioners()) {
      DeviceVector<double> x(tested.size());
      SolveOptions options;
      options.relative_tolerance = 1e-9;
      const SolveReport report = richardson<double>(tested.a(), m, tested.b(), x, 0.18, options);
      EXPECT_EQ(report.status, SolveStatus::converged);
      EXPECT_NEAR(report.true_relative_residual, tested.residual_of(x), 1e-13);
      EXPECT_EQ(report.history.back(), report.true_relative_residual);
    }
    DeviceVector<double> x(tested.size());
    const SolveReport report = richardson<double>(tested.a(), nullptr, tested.b(), x, 0.3, {});
    EXPECT_EQ(report.status, SolveStatus::diverged);
    EXPECT_GT(report.history.back(), kMaxGrowth);
  }
}

}  // namespace
}  // namespace tessera::testing
