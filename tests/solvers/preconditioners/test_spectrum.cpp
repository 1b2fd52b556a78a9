// These tests estimate known eigenvalues.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "solvers/errors.hpp"
#include "solvers/preconditioners/spectrum.hpp"
#include "tests/device_test.hpp"
#include "tests/solvers/diagonal_systems.hpp"
#include "tests/solvers/matrices_to_solve.hpp"

namespace tessera::testing {
namespace {

TEST(TridiagonalSpectra, AreThoseOfTheDifferenceMatrix) {
  for (const int n : {1, 2, 5, 40}) {
    const std::vector<double> diagonal(n, 2.0);
    const std::vector<double> side(n - 1, -1.0);
    const Spectrum spectrum = tridiagonal_spectrum(diagonal, side);
    const double angle = std::numbers::pi / (n + 1);
    EXPECT_NEAR(spectrum.smallest, 2.0 - 2.0 * std::cos(angle), 1e-13);
    EXPECT_NEAR(spectrum.largest, 2.0 - 2.0 * std::cos(n * angle), 1e-13);
    EXPECT_EQ(spectrum.steps, n);
  }
}

TEST(TridiagonalSpectra, OfAStartOfAMatrixAreBoundedByTheResidual) {
  constexpr int n = 7;
  const std::vector<double> diagonal(n, 2.0);
  const std::vector<double> side(n - 1, -1.0);
  std::vector<double> with_next = side;
  with_next.push_back(-0.5);
  const Spectrum whole = tridiagonal_spectrum(diagonal, side);
  const Spectrum start = tridiagonal_spectrum(diagonal, with_next);
  EXPECT_EQ(whole.bound, whole.largest);
  EXPECT_EQ(start.largest, whole.largest);
  // The eigenvector's last entry, of norm 1.
  const double angle = std::numbers::pi / (n + 1);
  EXPECT_NEAR(start.bound, start.largest + 0.5 * std::sqrt(2.0 / (n + 1)) * std::sin(angle), 1e-13);
}

TEST(TridiagonalSpectra, OfNothingOrOfNoNumbersAreErrors) {
  EXPECT_THROW(tridiagonal_spectrum({}, {}), std::runtime_error);
  EXPECT_THROW(tridiagonal_spectrum({1.0, std::numeric_limits<double>::quiet_NaN()}, {0.5}),
               std::runtime_error);
}

// CG ends after as many steps as there are different eigenvalues of D^-1 A.
TEST(EstimatedSpectra, OfFewEigenvaluesAreExact) {
  const int n = 600;
  const DiagonalOperator<double> a(eigenvalues(n, 6, 40.0));
  HostVector<double> scale(n);
  fill(scale, 0.5);
  const Spectrum spectrum = estimate_spectrum(a, scale, 20);
  EXPECT_NEAR(spectrum.smallest, 0.5, 1e-9);
  EXPECT_NEAR(spectrum.largest, 20.0, 1e-9);
  EXPECT_GE(spectrum.steps, 6);
  EXPECT_LE(spectrum.steps, 8);
  EXPECT_EQ(estimate_spectrum(a, scale, 3).steps, 3);
}

TEST(EstimatedSpectra, AreWithinTheTrueOneAndNearItsUpperEnd) {
  const int n = 40;
  const FivePointOperator<double> a(n);
  HostVector<double> inverse(a.size());
  a.diagonal(inverse);
  invert_entries(inverse);
  const double cosine = std::cos(std::numbers::pi / (n + 1));
  const double smallest = 1.0 - cosine;
  const double largest = 1.0 + cosine;
  double last = 0.0;
  for (const int steps : {4, 8, 12, 48}) {
    const Spectrum spectrum = estimate_spectrum(a, inverse, steps);
    EXPECT_EQ(spectrum.steps, steps);
    EXPECT_GE(spectrum.smallest, smallest * (1.0 - 1e-10));
    EXPECT_LE(spectrum.largest, largest * (1.0 + 1e-10));
    EXPECT_GT(spectrum.largest, last);
    last = spectrum.largest;
    EXPECT_GT(spectrum.bound, spectrum.largest);
    if (steps >= 12) {
      EXPECT_GT(spectrum.largest, 0.96 * largest);
      EXPECT_GT(spectrum.bound, 0.987 * largest);
      EXPECT_LT(spectrum.bound, 1.03 * largest);
    }
  }
}

TEST(EstimatedSpectra, AreTheSameInSinglePrecisionAndForAnyThreads) {
  const FivePointOperator<double> a(50);
  const FivePointOperator<float> single(50);
  HostVector<double> quarter(a.size());
  fill(quarter, 0.25);
  HostVector<float> single_quarter(a.size());
  fill(single_quarter, 0.25F);
  const Spectrum expected = estimate_spectrum(a, quarter, 12);
  EXPECT_NEAR(estimate_spectrum(single, single_quarter, 12).largest, expected.largest, 1e-4);
  for (const int threads : {1, 2, 3}) {
    const ThreadsInUse scope(threads);
    EXPECT_EQ(estimate_spectrum(a, quarter, 12).largest, expected.largest);
    EXPECT_EQ(estimate_spectrum(a, quarter, 12).smallest, expected.smallest);
  }
}

TEST(EstimatedSpectra, OfOperatorsThatAreNotPositiveAreErrors) {
  const DiagonalOperator<double> negative({-1, -2, -3});
  HostVector<double> ones(3);
  fill(ones, 1.0);
  EXPECT_THROW(estimate_spectrum(negative, ones, 5), std::runtime_error);
  const DiagonalOperator<double> none({1.0, std::numeric_limits<double>::quiet_NaN(), 2.0});
  EXPECT_THROW(estimate_spectrum(none, ones, 5), std::runtime_error);
}

// An estimate of the steps before would be a number without a meaning.
TEST(EstimatedSpectra, OfOperatorsThatTurnNanLaterAreErrors) {
  const FivePointOperator<double> a(20);
  HostVector<double> quarter(a.size());
  fill(quarter, 0.25);
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (const int first_wrong : {1, 4}) {
      const TamperedOperator<double> tampered(a, [&](int application, HostVector<double>& y) {
        if (application >= first_wrong) y[7] = wrong;
      });
      EXPECT_THROW(estimate_spectrum(tampered, quarter, 12), NumericalBreakdown)
          << wrong << " from application " << first_wrong;
    }
  }
  HostVector<double> huge(a.size());
  fill(huge, 1e308);
  EXPECT_THROW(estimate_spectrum(a, huge, 12), NumericalBreakdown);
}

TEST(EstimatedSpectra, OnTheGpuAreThoseOfTheHost) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const int n = 20000;
    const std::vector<double> values = eigenvalues(n, n, 50.0);
    HostVector<double> ones(n);
    fill(ones, 1.0);
    const Spectrum expected = estimate_spectrum(DiagonalOperator<double>(values), ones, 12);
    DeviceVector<double> device_ones(n);
    fill(device_ones, 1.0);
    const Spectrum found =
        estimate_spectrum(DiagonalOperator<double, Device>(values), device_ones, 12);
    EXPECT_NEAR(found.largest, expected.largest, 1e-8);
    EXPECT_NEAR(found.smallest, expected.smallest, 1e-8);
  }
}

}  // namespace
}  // namespace tessera::testing
