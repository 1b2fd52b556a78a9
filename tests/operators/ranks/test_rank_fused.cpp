// These tests hold fused operations on ranks, which are threads, to those on one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "solvers/ranks/thread_ranks.hpp"
#include "tests/operators/ranks/rank_checks.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

ProblemOptions separable(int dimension) {
  ProblemOptions options;
  options.dimension = dimension;
  options.cells = {4, 3, 4};
  options.geometry = Geometry::graded;
  options.coefficient = Coefficient::constant;
  return options;
}

std::vector<RankGrid> grids(int dimension) {
  return dimension == 2 ? std::vector<RankGrid>{{1, 3, 1}, {2, 2, 1}}
                        : std::vector<RankGrid>{{1, 1, 3}, {2, 2, 2}};
}

// Also of vectors that are not 0 on constrained nodes, of which several ranks have the rows.
template <class T>
void expect_same_sums(const Problem& problem, const RankGrid& grid) {
  const auto one = make_operator<T>({"kronecker", "none"}, problem.form);
  ASSERT_NE(one->fused(), nullptr);
  const std::vector<double> x = random_values(problem.size(), 3);
  const std::vector<double> b = random_values(problem.size(), 4);
  HostVector<T> y(one->size());
  double expected[2] = {};
  one->fused()->apply_dot(vector_of<T>(x), y, expected);
  HostVector<T> r(one->size());
  double expected_rr = 0.0;
  one->fused()->residual(vector_of<T>(b), vector_of<T>(x), r, &expected_rr);
  const double tolerance = rank_tolerance<T>();
  run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
    const RankProblem mine(ranks, BoxPartition(problem.discretization->mesh, grid), problem);
    const auto a = mine.distributed<T>({"kronecker", "none"});
    ASSERT_NE(a->fused(), nullptr);
    HostVector<T> w(mine.layout());
    fill(w, std::numeric_limits<T>::quiet_NaN());
    double sums[2] = {};
    a->fused()->apply_dot(mine.taken<T>(x), w, sums);
    EXPECT_TRUE(mine.agrees(w));
    EXPECT_LT(relative_difference(vector_of<double>(mine.gathered(w)), values_of(y)), tolerance);
    for (int k = 0; k < 2; ++k) {
      EXPECT_NEAR(sums[k], expected[k], 100.0 * tolerance * std::abs(expected[1]));
    }
    double rr = 0.0;
    fill(w, std::numeric_limits<T>::quiet_NaN());
    a->fused()->residual(mine.taken<T>(b), mine.taken<T>(x), w, &rr);
    EXPECT_TRUE(mine.agrees(w));
    EXPECT_LT(relative_difference(vector_of<double>(mine.gathered(w)), values_of(r)), tolerance);
    EXPECT_NEAR(rr, expected_rr, 100.0 * tolerance * expected_rr);
    // In place of b.
    HostVector<T> in_place = mine.taken<T>(b);
    a->fused()->residual(in_place, mine.taken<T>(x), in_place, &rr);
    EXPECT_TRUE(same_bits(in_place, w));
  });
}

TEST(RankFused, SumsAreThoseOfOneRank) {
  for (const int dimension : {2, 3}) {
    for (const Boundary boundary : {Boundary::none, Boundary::dirichlet}) {
      ProblemOptions options = separable(dimension);
      options.boundary = boundary;
      const Problem problem = make_problem(options);
      for (const RankGrid& grid : grids(dimension)) {
        expect_same_sums<double>(problem, grid);
        expect_same_sums<float>(problem, grid);
      }
    }
  }
}

// Where one rank alone has a Robin face that is no part of the factors, none fuses.
TEST(RankFused, AllRanksFuseOrNone) {
  ProblemOptions options = separable(3);
  options.boundary = Boundary::mixed;
  const Problem problem = make_problem(options);
  const bool one = make_operator<double>({"kronecker", "none"}, problem.form)->fused() != nullptr;
  EXPECT_FALSE(one);
  run_on_threads(2, [&](const Communicator& ranks) {
    const RankProblem mine(ranks, BoxPartition(problem.discretization->mesh, {2, 1, 1}), problem);
    EXPECT_EQ(mine.distributed<double>({"kronecker", "none"})->fused(), nullptr);
  });
}

// The residual is as exact as one of one rank where it nearly vanishes.
TEST(RankFused, SolvesGoAsOnOneRank) {
  for (const int dimension : {2, 3}) {
    ProblemOptions options = separable(dimension);
    options.boundary = Boundary::dirichlet;
    const StrategyName kronecker{"kronecker", "none"};
    const auto solve = [&](const Communicator& ranks, const RankGrid& grid) {
      return solve_on_ranks<Host>(ranks, grid, options, kronecker, SolverMethod::cg,
                                  RankPreconditioner::none);
    };
    const RankSolve one = solve(single_rank(), {1, 1, 1});
    EXPECT_EQ(one.report.status, SolveStatus::converged);
    for (const RankGrid& grid : grids(dimension)) {
      run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
        expect_same_solution(one, solve(ranks, grid));
      });
    }
  }
}

}  // namespace
}  // namespace tessera::testing
