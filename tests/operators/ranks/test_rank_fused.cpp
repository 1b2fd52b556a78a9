// These tests hold fused operations on ranks, which are threads, to those on one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "solvers/ranks/thread_ranks.hpp"
#include "tests/device_test.hpp"
#include "tests/operators/fused_checks.hpp"
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
template <class T, class Space>
void expect_same_sums(const StrategyName& strategy, const Problem& problem, const RankGrid& grid) {
  const auto one = make_operator<T>(strategy, problem.form);
  const std::vector<double> x = random_values(problem.size(), 3);
  const std::vector<double> b = random_values(problem.size(), 4);
  const HostVector<T> x_of_one = vector_of<T>(x);
  const HostVector<T> y = applied(*one, x_of_one);
  const double expected[2] = {dot(x_of_one, y), dot(y, y)};
  HostVector<T> r = vector_of<T>(b);
  axpy(T{-1}, y, r);
  const double expected_rr = dot(r, r);
  const double tolerance = rank_tolerance<T>();
  run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
    const RankProblem mine(ranks, BoxPartition(problem.discretization->mesh, grid), problem,
                           kProcessorOf<Space>);
    const auto a = mine.distributed<T, Space>(strategy);
    ASSERT_NE(a->fused(), nullptr);
    const auto mine_of = [&](const std::vector<double>& values) {
      return in_space<Space>(mine.taken<T>(values));
    };
    const auto expect_near = [&](const Vector<T, Space>& w, const HostVector<T>& of_one) {
      const HostVector<T> values = testing::on_host(w);
      EXPECT_TRUE(mine.agrees(values));
      EXPECT_LT(relative_difference(vector_of<double>(mine.gathered(values)), values_of(of_one)),
                tolerance);
    };
    Vector<T, Space> w(mine.layout());
    fill(w, std::numeric_limits<T>::quiet_NaN());
    Sums<Space> sums;
    a->fused()->apply_dot(mine_of(x), w, sums.data());
    expect_near(w, y);
    for (int k = 0; k < 2; ++k) {
      EXPECT_NEAR(sums.get(k), expected[k], 100.0 * tolerance * std::abs(expected[1]));
    }
    Sums<Space> rr;
    fill(w, std::numeric_limits<T>::quiet_NaN());
    a->fused()->residual(mine_of(b), mine_of(x), w, rr.data());
    expect_near(w, r);
    EXPECT_NEAR(rr.get(0), expected_rr, 100.0 * tolerance * expected_rr);
    // In place of b, and without the sum.
    Vector<T, Space> in_place = mine_of(b);
    a->fused()->residual(in_place, mine_of(x), in_place, nullptr);
    EXPECT_TRUE(same_bits(testing::on_host(in_place), testing::on_host(w)));
  });
}

template <class Space>
void expect_same_sums_of_all() {
  for (const int dimension : {2, 3}) {
    for (const Boundary boundary : {Boundary::none, Boundary::dirichlet}) {
      ProblemOptions options = separable(dimension);
      options.boundary = boundary;
      const Problem problem = make_problem(options);
      for (const RankGrid& grid : grids(dimension)) {
        expect_same_sums<double, Space>({"kronecker", "none"}, problem, grid);
        expect_same_sums<float, Space>({"kronecker", "none"}, problem, grid);
      }
    }
  }
}

TEST(RankFused, SumsAreThoseOfOneRank) { expect_same_sums_of_all<Host>(); }

TEST(RankFused, SumsOnTheGpuAreThoseOfOneRank) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    expect_same_sums_of_all<Device>();
    ProblemOptions mapped;
    mapped.degree = 1;
    mapped.cells = {9, 7, 8};
    mapped.boundary = Boundary::mixed;
    const Problem problem = make_problem(mapped);
    for (const RankGrid& grid : grids(3)) {
      expect_same_sums<double, Device>({"stencil", "none"}, problem, grid);
      expect_same_sums<float, Device>({"stencil", "none"}, problem, grid);
    }
  }
}

// y = x + s D (b - A x) of a step in single precision on cells that are alike, as ranks have it,
// and as it is made of A x on one.
template <class Space>
void expect_the_step_of_one(const Problem& problem, const RankGrid& grid) {
  const StrategyName kronecker{"kronecker", "none"};
  const std::vector<double> x = random_values(problem.size(), 3);
  const std::vector<double> b = random_values(problem.size(), 4);
  const std::vector<double> d = random_values(problem.size(), 5);
  constexpr float kScale = 0.7F;
  const HostVector<double> ax =
      applied(*make_operator<double>(kronecker, problem.form), vector_of<double>(x));
  std::vector<double> expected = x;
  for (std::size_t i = 0; i < x.size(); ++i) expected[i] += kScale * d[i] * (b[i] - ax[i]);
  run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
    const RankProblem mine(ranks, BoxPartition(problem.discretization->mesh, grid), problem,
                           kProcessorOf<Space>);
    const auto a = mine.distributed<float, Space>(kronecker);
    ASSERT_NE(a->fused(), nullptr);
    ASSERT_TRUE(a->fused()->has_step());
    const auto mine_of = [&](const std::vector<double>& values) {
      return in_space<Space>(mine.taken<float>(values));
    };
    Vector<float, Space> y(mine.layout());
    fill(y, std::numeric_limits<float>::quiet_NaN());
    a->fused()->step(kScale, mine_of(d), mine_of(b), mine_of(x), y);
    const HostVector<float> found = testing::on_host(y);
    EXPECT_TRUE(mine.agrees(found));
    EXPECT_LT(relative_difference(vector_of<double>(mine.gathered(found)), expected),
              rank_tolerance<float>());
  });
}

TEST(RankFused, StepsOnTheGpuAreThoseOfOneRank) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    for (const Boundary boundary : {Boundary::none, Boundary::dirichlet}) {
      for (const int degree : {1, 2, 4}) {
        ProblemOptions options = separable(3);
        options.geometry = Geometry::cartesian;
        options.boundary = boundary;
        options.degree = degree;
        const Problem problem = make_problem(options);
        for (const RankGrid& grid : grids(3)) expect_the_step_of_one<Device>(problem, grid);
      }
    }
  }
}

// Where cells of another rank's part differ no rank has steps: below all are alike, above they are
// not.
TEST(RankFused, AllRanksHaveStepsOrNone) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) {
    const BoxMesh mesh(3, {2, 2, 4}, {0.0, 0.0, 0.0}, {1.0, 1.0, 2.5},
                       {{{}, {}, {0.0, 0.5, 1.0, 1.5, 2.5}}});
    const Basis1D basis = make_basis(2, NodeFamily::gauss_lobatto, QuadratureRule::gauss, 3);
    const NodeLattice lattice(mesh, 2);
    Problem problem;
    problem.discretization = std::make_unique<const Discretization>(
        Discretization{mesh, basis, lattice, Mapping(mesh, lattice, basis.nodes)});
    problem.form.discretization = problem.discretization.get();
    problem.form.coefficient = constant_field(1.0);
    problem.form.reaction = constant_field(0.0);
    run_on_threads(2, [&](const Communicator& ranks) {
      const RankProblem mine(ranks, BoxPartition(problem.discretization->mesh, {1, 1, 2}), problem,
                             Processor::gpu);
      EXPECT_FALSE((mine.distributed<float, Device>({"kronecker", "none"})->fused()->has_step()));
    });
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
template <class Space>
void expect_same_solves() {
  for (const int dimension : {2, 3}) {
    ProblemOptions options = separable(dimension);
    options.boundary = Boundary::dirichlet;
    const StrategyName kronecker{"kronecker", "none"};
    for (const RankPreconditioner m :
         {RankPreconditioner::none, RankPreconditioner::jacobi, RankPreconditioner::chebyshev}) {
      const auto solve = [&](const Communicator& ranks, const RankGrid& grid) {
        return solve_on_ranks<Space>(ranks, grid, options, kronecker, SolverMethod::cg, m);
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
}

TEST(RankFused, SolvesGoAsOnOneRank) { expect_same_solves<Host>(); }

TEST(RankFused, SolvesOnTheGpuGoAsOnOneRank) {
  TESSERA_REQUIRE_DEVICE();
  if constexpr (kHasCuda) expect_same_solves<Device>();
}

}  // namespace
}  // namespace tessera::testing
