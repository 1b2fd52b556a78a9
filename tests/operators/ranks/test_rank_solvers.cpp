// These tests hold solves on ranks, which are threads, to solves on one.
#include <gtest/gtest.h>

#include <algorithm>

#include "solvers/ranks/thread_ranks.hpp"
#include "tests/everywhere.hpp"
#include "tests/operators/ranks/rank_checks.hpp"

namespace tessera::testing {
namespace {

struct Solved {
  ProblemOptions options;
  StrategyName strategy;
  SolverMethod method = SolverMethod::cg;
  RankPreconditioner preconditioner = RankPreconditioner::none;
};

template <class Space>
RankSolve solved(const RankGrid& grid, const Solved& what, const SolveOptions& options) {
  RankSolve of_first;
  run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
    RankSolve mine = solve_on_ranks<Space>(ranks, grid, what.options, what.strategy, what.method,
                                           what.preconditioner, options);
    // All ranks went the same way.
    for (const int iterations : ranks.all_gather(mine.report.iterations)) {
      EXPECT_EQ(iterations, mine.report.iterations);
    }
    for (const double last : ranks.all_gather(mine.report.history.back())) {
      EXPECT_EQ(last, mine.report.history.back());
    }
    if (ranks.rank() == 0) of_first = std::move(mine);
  });
  return of_first;
}

constexpr std::array<RankGrid, 6> kGrids = {
    {{1, 1, 1}, {1, 1, 2}, {1, 1, 3}, {2, 1, 2}, {1, 2, 3}, {2, 2, 2}}};

template <class Space>
void expect_the_solve_of_one_rank(const Solved& what) {
  const SolveOptions options = to_tolerance(1e-12);
  const RankSolve one = solved<Space>({1, 1, 1}, what, options);
  EXPECT_EQ(one.report.status, SolveStatus::converged);
  for (const RankGrid& grid : kGrids) {
    // Ranks that share a GPU wait for each other at every sum.
    if (std::is_same_v<Space, Device> && grid[0] * grid[1] * grid[2] > 4) continue;
    const RankSolve several = solved<Space>(grid, what, options);
    expect_same_solution(one, several);
    const RankSolve again = solved<Space>(grid, what, options);
    EXPECT_EQ(again.report.history, several.report.history);
    EXPECT_TRUE(same_bits(vector_of<double>(again.x), vector_of<double>(several.x)));
  }
}

ProblemOptions curved() { return {.degree = 2, .cells = {3, 4, 5}}; }
ProblemOptions graded() {
  return {.degree = 3,
          .cells = {4, 3, 3},
          .geometry = Geometry::graded,
          .coefficient = Coefficient::separable,
          .boundary = Boundary::dirichlet};
}

class SolvesOnRanks : public EveryProcessorTest<std::tuple<Processor>> {};

INSTANTIATE_TEST_SUITE_P(Places, SolvesOnRanks,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         [](const auto& tested) {
                           return place_name(std::get<Processor>(tested.param));
                         });

// Of degree 1, for few iterations: after hundreds of them rounding alone makes two more or less.
TEST_P(SolvesOnRanks, GoAsOnOneRankWithoutAPreconditioner) {
  in_space_of_processor([&]<class Space>() {
    ProblemOptions options = curved();
    options.degree = 1;
    expect_the_solve_of_one_rank<Space>({options, {"tensor", "coloring"}});
    expect_the_solve_of_one_rank<Space>({options, {"stencil"}});
    options = graded();
    options.degree = 1;
    expect_the_solve_of_one_rank<Space>({options, {"kronecker"}});
  });
}

TEST_P(SolvesOnRanks, GoAsOnOneRankWithJacobi) {
  in_space_of_processor([&]<class Space>() {
    expect_the_solve_of_one_rank<Space>(
        {curved(), {"csr"}, SolverMethod::cg, RankPreconditioner::jacobi});
    expect_the_solve_of_one_rank<Space>(
        {graded(), {"local", "private"}, SolverMethod::cg, RankPreconditioner::jacobi});
  });
}

TEST_P(SolvesOnRanks, GoAsOnOneRankWithChebyshev) {
  in_space_of_processor([&]<class Space>() {
    expect_the_solve_of_one_rank<Space>(
        {curved(), {"tensor", "coloring"}, SolverMethod::cg, RankPreconditioner::chebyshev});
    expect_the_solve_of_one_rank<Space>(
        {graded(), {"kronecker"}, SolverMethod::cg, RankPreconditioner::chebyshev});
  });
}

TEST_P(SolvesOnRanks, GoAsOnOneRankByEveryMethod) {
  in_space_of_processor([&]<class Space>() {
    for (const SolverMethod method :
         {SolverMethod::single_reduction_cg, SolverMethod::pipelined_cg, SolverMethod::flexible_cg,
          SolverMethod::flexible_gmres, SolverMethod::bicgstab}) {
      for (const RankPreconditioner preconditioner :
           {RankPreconditioner::none, RankPreconditioner::jacobi, RankPreconditioner::chebyshev}) {
        const Solved what{curved(), {"tensor", "coloring"}, method, preconditioner};
        // Some of them lose digits, and the number of iterations of some hangs on rounding.
        const SolveOptions options = to_tolerance(1e-9);
        const RankSolve one = solved<Space>({1, 1, 1}, what, options);
        const RankSolve several = solved<Space>({2, 1, 2}, what, options);
        EXPECT_EQ(one.report.status, SolveStatus::converged);
        EXPECT_EQ(several.report.status, SolveStatus::converged);
        if (method != SolverMethod::bicgstab) {
          EXPECT_NEAR(several.report.iterations, one.report.iterations,
                      std::max(1.0, 0.05 * one.report.iterations));
        }
        EXPECT_LE(relative_difference(vector_of<double>(several.x), one.x), 1e-7);
      }
    }
  });
}

TEST_P(SolvesOnRanks, OfOneRankHaveTheBitsOfASolveWithoutRanks) {
  in_space_of_processor([&]<class Space>() {
    const Solved what{
        curved(), {"tensor", "coloring"}, SolverMethod::cg, RankPreconditioner::jacobi};
    const SolveOptions options = to_tolerance(1e-12);
    const RankSolve on_a_thread = solved<Space>({1, 1, 1}, what, options);
    const RankSolve alone =
        solve_on_ranks<Space>(single_rank(), {1, 1, 1}, what.options, what.strategy, what.method,
                              what.preconditioner, options);
    EXPECT_EQ(alone.report.history, on_a_thread.report.history);
    EXPECT_TRUE(same_bits(vector_of<double>(alone.x), vector_of<double>(on_a_thread.x)));
  });
}

// An observer that ends the solve on one rank ends it on all, in the same iteration.
TEST_P(SolvesOnRanks, EndTogetherWhenOneIsInterrupted) {
  in_space_of_processor([&]<class Space>() {
    for (int culprit = 0; culprit < 3; ++culprit) {
      run_on_threads(3, [&](const Communicator& ranks) {
        SolveOptions options = to_tolerance(1e-12);
        options.observer = [&](int iteration, double) {
          return ranks.rank() == culprit && iteration == 4 ? Continue::no : Continue::yes;
        };
        const RankSolve solve =
            solve_on_ranks<Space>(ranks, {1, 1, 3}, curved(), {"tensor", "coloring"},
                                  SolverMethod::cg, RankPreconditioner::jacobi, options);
        EXPECT_EQ(solve.report.status, SolveStatus::interrupted);
        // On the GPU some more are queued by then.
        EXPECT_GE(solve.report.iterations, 4);
        if (std::is_same_v<Space, Host>) {
          EXPECT_EQ(solve.report.iterations, 4);
        }
        for (const int other : ranks.all_gather(solve.report.iterations)) {
          EXPECT_EQ(other, solve.report.iterations);
        }
      });
    }
  });
}

}  // namespace
}  // namespace tessera::testing
