// These tests judge errors that were made up, and refine meshes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "src/case/setup.hpp"
#include "src/study/convergence/meshes.hpp"
#include "src/study/convergence/rates.hpp"

namespace tessera {
namespace {

using ::testing::HasSubstr;

constexpr double kFloor = 1e-13;

// Meshes with these errors in all norms; H1 falls by one order less.
std::vector<SolvedMesh> meshes(const std::vector<double>& l2_errors, double floor = kFloor) {
  std::vector<SolvedMesh> solved;
  double h = 1.0;
  for (const double error : l2_errors) {
    solved.push_back({h, {error, error / h, error}, {floor, floor / h, floor}});
    h /= 2.0;
  }
  return solved;
}

std::vector<double> falling(double first, double rate, int count) {
  std::vector<double> errors;
  for (int i = 0; i < count; ++i) errors.push_back(first * std::exp2(-rate * i));
  return errors;
}

Judgment judged(const std::vector<double>& errors, int degree, double floor = kFloor) {
  return judge(rates_of(meshes(errors, floor), rates_in_space(degree)), rates_in_space(degree));
}

TEST(ConvergenceRates, AreLogarithmsOfRatios) {
  const auto rates = rates_of(meshes(falling(1e-2, 4.0, 3)), rates_in_space(3));
  ASSERT_EQ(rates.size(), 3U);
  EXPECT_FALSE(rates[0][0].value.has_value());
  EXPECT_FALSE(rates[0][0].is_rounding);
  EXPECT_NEAR(*rates[2][0].value, 4.0, 1e-12);
  EXPECT_NEAR(*rates[2][1].value, 3.0, 1e-12);
  const Judgment judgment = judged(falling(1e-2, 4.0, 3), 3);
  EXPECT_EQ(judgment.verdict, RateVerdict::as_expected);
  EXPECT_EQ(judgment.text, "rate 4.00 in L2 and 3.00 in H1: as expected");
}

TEST(ConvergenceRates, HigherThanExpectedAreFine) {
  EXPECT_EQ(judged(falling(1e-2, 6.0, 3), 3).verdict, RateVerdict::as_expected);
}

TEST(ConvergenceRates, NearTheFloorAreRounding) {
  std::vector<double> errors = falling(1e-6, 6.0, 4);  // 3.8e-12
  errors.push_back(8e-13);
  errors.push_back(9e-13);
  const auto rates = rates_of(meshes(errors), rates_in_space(5));
  EXPECT_FALSE(rates[3][0].is_rounding);
  EXPECT_TRUE(rates[4][0].is_rounding);
  EXPECT_TRUE(rates[5][0].is_rounding);
  const Judgment judgment = judged(errors, 5);
  EXPECT_EQ(judgment.verdict, RateVerdict::as_expected);
  EXPECT_THAT(judgment.text, HasSubstr("as expected, until rounding takes over"));
}

TEST(ConvergenceRates, FarFromTheFloorAreNotRounding) {
  std::vector<double> errors = falling(1e-2, 4.0, 4);
  errors.push_back(errors.back());
  const auto rates = rates_of(meshes(errors), rates_in_space(3));
  EXPECT_FALSE(rates[4][0].is_rounding);
  const Judgment judgment = judged(errors, 3);
  EXPECT_EQ(judgment.verdict, RateVerdict::too_low);
  EXPECT_THAT(judgment.text, HasSubstr("NOT the expected 4 in L2 and 3 in H1"));
}

TEST(ConvergenceRates, ThatAreTooLowButGreatAreNotLostInASmallFloor) {
  EXPECT_EQ(judged(falling(1e-2, 2.0, 6), 3).verdict, RateVerdict::too_low);
}

TEST(ConvergenceRates, ThatRiseAreNotJudgedYet) {
  const Judgment judgment = judged({1.0, 0.8, 0.4, 0.1}, 3);
  EXPECT_EQ(judgment.verdict, RateVerdict::unknown);
  EXPECT_THAT(judgment.text, HasSubstr("finer ones will tell"));
  EXPECT_EQ(judged({1.0, 0.4}, 3).verdict, RateVerdict::unknown);
}

TEST(ConvergenceRates, OfErrorsThatDoNotFallAreTooLow) {
  EXPECT_EQ(judged({1.0, 1.0}, 3).verdict, RateVerdict::too_low);
  EXPECT_EQ(judged({1.0, 1.2}, 1).verdict, RateVerdict::too_low);
  // In one of the norms, here in H1.
  EXPECT_EQ(judged({1.0, 0.6}, 1).verdict, RateVerdict::too_low);
}

TEST(ConvergenceRates, OfASolutionInTheSpaceAreAllRounding) {
  const Judgment judgment = judged({2e-15, 1e-15, 3e-15}, 2);
  EXPECT_EQ(judgment.verdict, RateVerdict::as_expected);
  EXPECT_THAT(judgment.text, HasSubstr("rounding has taken over from the start"));
  EXPECT_EQ(judged({0.0, 0.0}, 2).verdict, RateVerdict::as_expected);
}

TEST(ConvergenceRates, OfErrorsFarAboveTheFirstOneAreNotRounding) {
  const auto rates = rates_of(meshes({3e-17, 0.31, 0.39, 0.41}), rates_in_space(1));
  EXPECT_TRUE(rates[0][0].is_rounding);
  EXPECT_FALSE(rates[1][0].value.has_value());
  for (std::size_t i = 1; i < rates.size(); ++i) EXPECT_FALSE(rates[i][0].is_rounding);
  EXPECT_EQ(judged({3e-17, 0.31, 0.39, 0.41}, 1).verdict, RateVerdict::too_low);
  EXPECT_EQ(judged({3e-17, 0.31}, 1).verdict, RateVerdict::unknown);
  EXPECT_EQ(judged({0.0, 0.4, 0.1, 0.025}, 1).text, "rate 2.00 in L2 and 1.00 in H1: as expected");
}

TEST(ConvergenceRates, AreJudgedWhereTheSizeIsAboutHalved) {
  std::vector<SolvedMesh> solved = meshes({1.0, 0.9, 0.2, 0.1});
  const double sizes[] = {1.0, 0.95, 0.7, 0.35};
  for (std::size_t i = 0; i < solved.size(); ++i) solved[i].h = sizes[i];
  const auto rates = rates_of(solved, rates_in_space(2));
  EXPECT_FALSE(rates[1][0].value.has_value());
  EXPECT_TRUE(rates[2][0].value.has_value());
  EXPECT_THAT(judge(rates, rates_in_space(2)).text, HasSubstr("rate 1.00 in L2"));
  solved.pop_back();
  const Judgment judgment = judge(rates_of(solved, rates_in_space(2)), rates_in_space(2));
  EXPECT_EQ(judgment.verdict, RateVerdict::unknown);
  EXPECT_THAT(judgment.text, HasSubstr("the largest cell is nowhere about halved"));
}

TEST(ConvergenceRates, TakeTwoMeshes) {
  EXPECT_EQ(judged({1e-3}, 2).verdict, RateVerdict::unknown);
  EXPECT_EQ(judged({1e-3}, 2).text, "no rate: it takes two errors");
  EXPECT_EQ(judged({}, 2).verdict, RateVerdict::unknown);
}

TEST(ConvergenceRates, FloorsGrowWithPrecisionAndSize) {
  FloorInput input{.epsilon = 2.2e-16,
                   .relative_residual = 0.0,
                   .degree = 4,
                   .cells = 16,
                   .h = 1.0 / 16,
                   .magnitude = 1.0,
                   .volume = 1.0};
  const auto floors = error_floors(input);
  EXPECT_GT(floors[0], 1e-14);
  EXPECT_LT(floors[0], 1e-11);
  EXPECT_LT(floors[1], 1e-11);
  input.magnitude = 1e6;
  EXPECT_DOUBLE_EQ(error_floors(input)[0], 1e6 * floors[0]);
  input.relative_residual = 1e-8;
  EXPECT_GT(error_floors(input)[0], 1e10 * floors[0]);
}

LoadedCase load(const std::string& mesh, const std::string& more = "") {
  return make_case_registry().parse("[mesh]\n" + mesh + more, "case.toml");
}

CaseParameters on_level(const std::string& mesh, const std::string& more, int degree, int level,
                        int levels) {
  const CaseParameters base = load(mesh, more).parameters;
  const auto overrides = level_overrides(base, degree, level, coarsenings(base.mesh, levels));
  return make_case_registry().parse("[mesh]\n" + mesh + more, "case.toml", overrides).parameters;
}

TEST(ConvergenceMeshes, EndWithTheCaseOrGoBeyondIt) {
  const auto count = [](const std::string& cells, int levels) {
    return coarsenings(load("cells = " + cells + "\n").parameters.mesh, levels);
  };
  EXPECT_EQ(count("[16, 16, 16]", 4), 3);
  EXPECT_EQ(count("[16, 16, 16]", 9), 4);
  EXPECT_EQ(count("[12, 10, 8]", 4), 1);
  EXPECT_EQ(count("[3, 8, 8]", 4), 0);
  EXPECT_EQ(on_level("cells = [12, 10, 8]\n", "", 2, 0, 4).mesh.cells,
            (std::vector<std::int64_t>{6, 5, 4}));
  EXPECT_EQ(on_level("cells = [12, 10, 8]\n", "", 2, 3, 4).mesh.cells,
            (std::vector<std::int64_t>{48, 40, 32}));
}

TEST(ConvergenceMeshes, KeepPointsBeyondTheDegreeAndAskForAllDigits) {
  const CaseParameters p =
      on_level("cells = [4, 4, 4]\n",
               "[space]\ndegree = 3\npoints = 5\n[solver]\nrelative_tolerance = 1e-6\n[output]\n"
               "vtk_degree = 3\n",
               1, 0, 2);
  EXPECT_EQ(p.space.degree, 1);
  EXPECT_EQ(p.space.points, 3);
  EXPECT_EQ(p.solver.relative_tolerance, 1e-13);
  EXPECT_FALSE(p.output.vtk);
  EXPECT_EQ(on_level("cells = [4, 4, 4]\n",
                     "[operator]\nprecision = \"single\"\n[solver]\n"
                     "relative_tolerance = 1e-5\n",
                     1, 0, 2)
                .solver.relative_tolerance,
            1e-6);
}

TEST(ConvergenceMeshes, AreNestedWhereTheyAreGraded) {
  const std::string mesh =
      "cells = [4, 2, 2]\nspacing = [{ geometric = 1.5 }, [0, 0.3, 1], \"uniform\"]\n";
  for (int level = 0; level < 3; ++level) {
    const BoxMesh coarse = make_box_mesh(on_level(mesh, "", 2, level, 4));
    const BoxMesh fine = make_box_mesh(on_level(mesh, "", 2, level + 1, 4));
    for (int d = 0; d < 3; ++d) {
      for (Index i = 0; i <= coarse.cells()[d]; ++i) {
        EXPECT_NEAR(fine.grid_line(d, 2 * i), coarse.grid_line(d, i), 1e-14);
      }
    }
  }
  EXPECT_EQ(on_level(mesh, "", 2, 1, 4).mesh.spacing[0].ratio, 1.5);
}

TEST(ConvergenceMeshes, AreAsLargeAsTheirLargestCells) {
  const auto size = [](const std::string& mesh) {
    return cell_size(make_box_mesh(load("dimension = 2\n" + mesh).parameters), 1.0);
  };
  EXPECT_NEAR(size("cells = [4, 4]\n"), 0.25, 1e-14);
  EXPECT_NEAR(size("cells = [8, 2]\n"), 0.25, 1e-14);
  EXPECT_NEAR(size("cells = [4, 4]\nspacing = [\"uniform\", [0, 0.1, 0.2, 0.3, 1]]\n"), 0.7, 1e-14);
  // The first axis is closer to uniform.
  EXPECT_NEAR(size("cells = [2, 2]\nspacing = [[0, 0.4, 1], [0, 0.1, 1]]\n"), 0.9, 1e-14);
}

TEST(ConvergenceMeshes, HaveTheDegreesNextToTheCases) {
  EXPECT_EQ(default_degrees(4), (std::vector<int>{3, 4, 5}));
  EXPECT_EQ(default_degrees(1), (std::vector<int>{1, 2}));
  EXPECT_EQ(default_degrees(32), (std::vector<int>{31, 32}));
}

}  // namespace
}  // namespace tessera
