// These tests compare results of strategies, and look at the notes of cases.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/case/notes.hpp"
#include "src/study/measurement.hpp"
#include "src/study/solver_measurement.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double difference(const std::vector<double>& y, const std::vector<double>& first) {
  return relative_difference<double>(y, first);
}

TEST(RelativeDifference, IsTheLargestDistanceOverTheLargestValue) {
  EXPECT_EQ(difference({1, -4, 2}, {1, -4, 2}), 0.0);
  EXPECT_EQ(difference({1, -3, 2}, {1, -4, 2}), 0.25);
  EXPECT_EQ(difference({0, 0}, {0, 0}), 0.0);
  EXPECT_EQ(difference({1, 0}, {0, 0}), kInfinity);
}

// Wherever it is, in whichever vector, and whatever comes after it.
TEST(RelativeDifference, IsNaNWhereAValueIsNotFinite) {
  for (const double bad : {kNan, kInfinity, -kInfinity}) {
    for (std::size_t at = 0; at < 3; ++at) {
      const std::vector<double> good = {1.0, 7.0, 1.0};
      std::vector<double> spoilt = good;
      spoilt[at] = bad;
      EXPECT_TRUE(std::isnan(difference(spoilt, good))) << at;
      EXPECT_TRUE(std::isnan(difference(good, spoilt))) << at;
      EXPECT_TRUE(std::isnan(difference(spoilt, spoilt))) << at;
      const std::vector<float> single(spoilt.begin(), spoilt.end());
      EXPECT_TRUE(std::isnan(relative_difference<float>(single, good))) << at;
    }
  }
}

TEST(StatusOfAStart, IsThatOfItsResidual) {
  EXPECT_EQ(status_of_start(1e-10, 1e-9), SolveStatus::converged);
  EXPECT_EQ(status_of_start(1e-6, 1e-9), SolveStatus::iteration_limit);
  EXPECT_EQ(status_of_start(0.5, 1e-9), SolveStatus::diverged);
  EXPECT_EQ(status_of_start(1e30, 1e-9), SolveStatus::diverged);
  for (const double bad : {kNan, kInfinity}) {
    EXPECT_EQ(status_of_start(bad, 1e-9), SolveStatus::not_finite);
  }
}

TEST(LebesgueConstants, AreThoseOfTheLiterature) {
  // Equidistant nodes: Brutman, Ann. Numer. Math. 4 (1997), table 1.
  EXPECT_NEAR(lebesgue_constant(make_nodes(NodeFamily::equidistant, 1)), 1.0, 1e-12);
  EXPECT_NEAR(lebesgue_constant(make_nodes(NodeFamily::equidistant, 2)), 1.25, 1e-12);
  EXPECT_NEAR(lebesgue_constant(make_nodes(NodeFamily::equidistant, 10)), 29.9, 0.1);
  EXPECT_LT(lebesgue_constant(make_nodes(NodeFamily::gauss_lobatto, 32)), 4.0);
}

TEST(CaseNotes, NameTheDigitsThatEquidistantNodesLose) {
  CaseParameters parameters;
  for (const int degree : {1, 8, 32}) {
    parameters.space.degree = degree;
    parameters.space.nodes = NodeFamily::gauss_lobatto;
    EXPECT_TRUE(case_notes(parameters).empty()) << degree;
  }
  parameters.space.nodes = NodeFamily::equidistant;
  for (const auto& [dimension, highest] : {std::pair(2, 10), std::pair(3, 7)}) {
    parameters.mesh.dimension = dimension;
    parameters.space.degree = highest;
    EXPECT_TRUE(case_notes(parameters).empty());
    parameters.space.degree = highest + 1;
    ASSERT_EQ(case_notes(parameters).size(), 1u);
    EXPECT_NE(case_notes(parameters)[0].find("lose at least 3 of 16 digits in " +
                                             std::to_string(dimension) + "D"),
              std::string::npos)
        << case_notes(parameters)[0];
  }
  // More than all cannot be lost.
  parameters.space.degree = 32;
  EXPECT_NE(case_notes(parameters)[0].find("lose at least 16 of 16 digits"), std::string::npos)
      << case_notes(parameters)[0];
}

TEST(CaseNotes, NameWhatARoundedMatrixMeansForTightTolerances) {
  CaseParameters parameters;
  parameters.solver.relative_tolerance = 1e-10;
  for (const char* kernel : {"auto", "csr", "csr-cusparse", "tensor"}) {
    parameters.operation.kernel = kernel;
    EXPECT_TRUE(case_notes(parameters).empty()) << kernel;
  }
  parameters.operation.kernel = "csr-single";
  ASSERT_EQ(case_notes(parameters).size(), 1u);
  EXPECT_EQ(case_notes(parameters)[0].find("csr-single rounds the entries of its matrix"), 0u);
  parameters.solver.relative_tolerance = 1e-6;
  EXPECT_TRUE(case_notes(parameters).empty());
  parameters.solver.relative_tolerance = 1e-10;
  parameters.operation.precision = Precision::single_precision;
  EXPECT_TRUE(case_notes(parameters).empty());
}

}  // namespace
}  // namespace tessera::testing
