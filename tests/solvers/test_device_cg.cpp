// These tests compare conjugate gradients and vectors on the GPU with those of the host.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/device_test.hpp"
#include "tests/solvers/device_operators_to_solve.hpp"
#include "tests/solvers/solve_once.hpp"

namespace tessera::testing {
namespace {

TEST(DeviceCg, NeedsAsManyIterationsAsThereAreEigenvalues) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    for (const int n : {1, 7, 1000, 100003}) {
      const int count = std::min(n, 9);
      const std::vector<double> d =
          n == 1 ? std::vector<double>{3.0} : eigenvalues(n, count, 100.0);
      const std::vector<double> b = wavy(n);
      const DeviceDiagonal<double> a(d);
      DeviceVector<double> x(n);
      SolveOptions options;
      options.relative_tolerance = 1e-11;
      int observed = 0;
      options.observer = [&](int iteration, double) {
        EXPECT_EQ(iteration, ++observed);
        return Continue::yes;
      };
      const SolveReport report = cg<double>(a, nullptr, device_vector<double>(b), x, options);
      EXPECT_EQ(report.status, SolveStatus::converged);
      EXPECT_LE(report.iterations, count + 1) << n;
      EXPECT_EQ(report.history.size(), static_cast<std::size_t>(report.iterations) + 1);
      EXPECT_EQ(observed, report.iterations);
      HostVector<double> solution(n);
      copy(x, solution);
      EXPECT_LE(report.true_relative_residual, 1e-11) << n;
      EXPECT_LE(residual(d, b, solution), 1.01e-11) << n;
      EXPECT_NEAR(report.true_relative_residual, residual(d, b, solution), 1e-13);
    }
  }
}

TEST(DeviceCg, EqualsTheHostsHistory) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const int n = 5000;
    const std::vector<double> d = eigenvalues(n, n, 3000.0);
    const std::vector<double> b = wavy(n);
    const DeviceDiagonal<double> a(d);
    DeviceVector<double> x(n);
    SolveOptions options;
    options.max_iterations = 2000;
    const SolveReport report = cg<double>(a, nullptr, device_vector<double>(b), x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_GT(report.iterations, 200);
    for (std::size_t i = 1; i < report.history.size(); ++i) {
      EXPECT_TRUE(std::isfinite(report.history[i]));
    }
    EXPECT_GT(report.history[report.history.size() - 2], options.relative_tolerance);
    EXPECT_LE(report.history.back(), options.relative_tolerance);
    // The same bits again.
    DeviceVector<double> again(n);
    EXPECT_EQ(cg<double>(a, nullptr, device_vector<double>(b), again, options).history,
              report.history);
  }
}

TEST(DeviceCg, PreconditionersOfBothKindsGiveTheSolution) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const int n = 3001;
    const std::vector<double> d = eigenvalues(n, n, 1e6);
    const std::vector<double> b = wavy(n);
    std::vector<double> inverse;
    inverse.reserve(n);
    for (const double entry : d) inverse.push_back(1.0 / entry);
    const DeviceDiagonal<double> a(d);
    const Jacobi<double, Device> jacobi(a);
    const OpaqueScaling<double> opaque(inverse);
    SolveOptions options;
    options.relative_tolerance = 1e-12;
    for (const Preconditioner<double, Device>* m :
         {static_cast<const Preconditioner<double, Device>*>(&jacobi),
          static_cast<const Preconditioner<double, Device>*>(&opaque)}) {
      DeviceVector<double> x(n);
      const SolveReport report = cg<double>(a, m, device_vector<double>(b), x, options);
      EXPECT_EQ(report.status, SolveStatus::converged);
      EXPECT_LE(report.iterations, 3);
      HostVector<double> solution(n);
      copy(x, solution);
      EXPECT_LE(residual(d, b, solution), 1.2e-12);
    }
  }
}

TEST(DeviceCg, EndsAsTheHostDoes) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const int n = 2000;
    std::vector<double> d = eigenvalues(n, n, 1e6);
    const std::vector<double> b = wavy(n);
    SolveOptions options;
    options.max_iterations = 17;
    {
      const DeviceDiagonal<double> a(d);
      DeviceVector<double> x(n);
      const SolveReport report = cg<double>(a, nullptr, device_vector<double>(b), x, options);
      EXPECT_EQ(report.status, SolveStatus::iteration_limit);
      EXPECT_EQ(report.iterations, 17);
      EXPECT_EQ(report.history.size(), 18U);
    }
    options.max_iterations = 100000;
    options.observer = [](int iteration, double) {
      return iteration == 5 ? Continue::no : Continue::yes;
    };
    {
      const DeviceDiagonal<double> a(d);
      DeviceVector<double> x(n);
      const SolveReport report = cg<double>(a, nullptr, device_vector<double>(b), x, options);
      EXPECT_EQ(report.status, SolveStatus::interrupted);
      EXPECT_GE(report.iterations, 5);
      HostVector<double> solution(n);
      copy(x, solution);
      EXPECT_NEAR(report.true_relative_residual, residual(d, b, solution), 1e-12);
    }
    options.observer = nullptr;
    {
      for (double& entry : d) entry = -entry;
      const DeviceDiagonal<double> a(d);
      DeviceVector<double> x(n);
      const SolveReport report = cg<double>(a, nullptr, device_vector<double>(b), x, options);
      EXPECT_EQ(report.status, SolveStatus::indefinite);
      EXPECT_EQ(report.iterations, 0);
    }
    {
      d[77] = std::numeric_limits<double>::quiet_NaN();
      const DeviceDiagonal<double> a(d);
      DeviceVector<double> x(n);
      EXPECT_EQ(cg<double>(a, nullptr, device_vector<double>(b), x, options).status,
                SolveStatus::not_finite);
    }
    {
      // Beyond what float can reach: the recurrence converges, the true residual does not.
      const std::vector<double> spread = eigenvalues(n, n, 1e5);
      const DeviceDiagonal<float> a(spread);
      DeviceVector<float> x(n);
      options.relative_tolerance = 1e-12;
      options.max_iterations = 20000;
      EXPECT_EQ(cg<float>(a, nullptr, device_vector<float>(b), x, options).status,
                SolveStatus::stagnated);
    }
  }
}

TEST(DeviceCg, StartsFromTheGuess) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const int n = 321;
    const std::vector<double> d = eigenvalues(n, 7, 10.0);
    const std::vector<double> b = wavy(n);
    std::vector<double> exact;
    exact.reserve(n);
    for (int i = 0; i < n; ++i) exact.push_back(b[i] / d[i]);
    const DeviceDiagonal<double> a(d);
    DeviceVector<double> x = device_vector<double>(exact);
    SolveOptions options;
    options.reference_norm = 1.0;
    const SolveReport report = cg<double>(a, nullptr, device_vector<double>(b), x, options);
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_EQ(report.iterations, 0);
  }
}

TEST(DeviceVectors, DotIsTheSumAndTheSameEveryTime) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    for (const int n : {1, 255, 1025, 2000003}) {
      const std::vector<double> values = wavy(n);
      const DeviceVector<double> x = device_vector<double>(values);
      std::vector<double> other = eigenvalues(n + 1, 5, 2.0);
      other.resize(static_cast<std::size_t>(n));
      const DeviceVector<double> y = device_vector<double>(other);
      double expected = 0.0;
      for (int i = 0; i < n; ++i) expected += values[i] * other[i];
      const double first = dot(x, y);
      EXPECT_NEAR(first, expected, 1e-10 * n);
      for (int repetition = 0; repetition < 5; ++repetition) EXPECT_EQ(dot(x, y), first);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
