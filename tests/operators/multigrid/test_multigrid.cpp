// These tests count iterations and levels of multigrid.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "operators/kronecker/factors/factors.hpp"
#include "operators/multigrid/update.hpp"
#include "tests/everywhere.hpp"
#include "tests/operators/multigrid/multigrid_cases.hpp"
#include "tests/operators/suitable.hpp"

namespace tessera::testing {
namespace {

constexpr SmootherKind kSmoothers[] = {SmootherKind::chebyshev, SmootherKind::block_jacobi};

class MultigridProblems : public ::testing::TestWithParam<int> {};

TEST_P(MultigridProblems, HaveASymmetricPositiveCycle) {
  const ThreadsInUse threads(1);
  for (const Problem& problem : more_problems(GetParam())) {
    for (const SmootherKind smoother : kSmoothers) {
      const auto made =
          make_multigrid<double, Host>(problem.form, quick_options(smoother), nullptr);
      ASSERT_GE(made.levels.size(), 2U);
      EXPECT_TRUE(made.note.empty()) << made.note;
      for (unsigned pair = 0; pair < 3; ++pair) {
        const auto x = vector_of<double>(random_values(problem.size(), 2 * pair));
        const auto y = vector_of<double>(random_values(problem.size(), 2 * pair + 1));
        const HostVector<double> Mx = applied(*made.cycle, x);
        const HostVector<double> My = applied(*made.cycle, y);
        EXPECT_NEAR(dot(Mx, y), dot(x, My), 1e-12 * norm(Mx) * norm(y));
        EXPECT_GT(dot(Mx, x), 0.0);
      }
    }
  }
}

// A cycle by so many threads, and whether a level's operator adds cells: in what order, depends on
// the number of threads.
struct ThreadedCycle {
  HostVector<double> result;
  bool adds_cells;
};
ThreadedCycle run_cycle(const Problem& problem, int threads) {
  const ThreadsInUse scope(threads);
  const auto made = make_multigrid<double, Host>(problem.form, quick_options(), nullptr);
  const bool adds_cells =
      std::any_of(made.levels.begin(), made.levels.end(),
                  [](const auto& level) { return level.strategy.find('/') != std::string::npos; });
  return {applied(*made.cycle, vector_of<double>(random_values(problem.size(), 3))), adds_cells};
}

TEST_P(MultigridProblems, HaveTheSameCycleInEveryRun) {
  int for_any_threads = 0;
  for (const Problem& problem : more_problems(GetParam())) {
    const ThreadedCycle by_one = run_cycle(problem, 1);
    EXPECT_TRUE(same_bits(run_cycle(problem, 1).result, by_one.result));
    for (const int threads : {2, 3}) {
      const ThreadedCycle first = run_cycle(problem, threads);
      EXPECT_TRUE(same_bits(run_cycle(problem, threads).result, first.result)) << threads;
      if (by_one.adds_cells) continue;
      EXPECT_TRUE(same_bits(first.result, by_one.result)) << threads;
      ++for_any_threads;
    }
  }
  EXPECT_GT(for_any_threads, 0);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, MultigridProblems, ::testing::Values(2, 3),
                         [](const auto& tested) { return std::to_string(tested.param) + "d"; });

class MultigridSolves : public EveryProcessorTest<std::tuple<int, Processor>> {
 protected:
  static int dimension() { return std::get<0>(GetParam()); }
};

// CG on the GPU replays the cycle as a CUDA graph.
TEST_P(MultigridSolves, ByCgWithCyclesInEitherPrecisionWithEachSmoother) {
  const ThreadsInUse threads(1);
  for (const Problem& problem : more_problems(dimension())) {
    SCOPED_TRACE(problem.form.dirichlet.to_string());
    const auto host = finest_operator(problem.form);
    const HostVector<double> b = vector_of<double>(right_hand_side(problem, *host, 3));
    HostVector<double> expected(problem.size());
    ASSERT_EQ(cg(*host, nullptr, b, expected, to_tolerance(1e-12)).status, SolveStatus::converged);
    const bool is_singular = is_pure_neumann(problem.form);
    const auto values = [&](const HostVector<double>& x) {
      return is_singular ? without_mean(x) : values_of(x);
    };
    in_space_of_processor([&]<class Space>() {
      const auto a = finest_operator<Space>(problem.form);
      const auto check = [&](const Preconditioner<double, Space>& m) {
        Vector<double, Space> x(problem.size());
        const SolveReport report = cg(*a, &m, in_space<Space>(b), x, to_tolerance(1e-10));
        EXPECT_EQ(report.status, SolveStatus::converged);
        EXPECT_LE(report.iterations, 30);
        EXPECT_LT(relative_difference(vector_of<double>(values(on_host(x))), values(expected)),
                  1e-6);
      };
      for (const SmootherKind smoother : kSmoothers) {
        check(*make_multigrid<double, Space>(problem.form, quick_options(smoother), a.get()).cycle);
        auto single = make_multigrid<float, Space>(problem.form, quick_options(smoother), nullptr);
        check(InSinglePrecision<Space>(problem.size(), std::move(single.cycle)));
      }
    });
  }
}

// Asynchronous sweeps are another map at every call: flexible CG takes them.
TEST_P(MultigridSolves, ByFlexibleCgWithAsynchronousSweeps) {
  ProblemOptions options;
  options.dimension = dimension();
  options.degree = 1;
  options.cells = options.dimension == 2 ? IndexTriple{60, 50, 1} : IndexTriple{16, 15, 17};
  const Problem problem = make_problem(options);
  const auto host = finest_operator(problem.form);
  in_space_of_processor([&]<class Space>() {
    const auto a = finest_operator<Space>(problem.form);
    const auto b = vector_in<double, Space>(right_hand_side(problem, *host, 5));
    const auto made = make_multigrid<double, Space>(
        problem.form, quick_options(SmootherKind::block_asynchronous_jacobi), a.get());
    Vector<double, Space> x(problem.size());
    const SolveReport report = flexible_cg(*a, made.cycle.get(), b, x, to_tolerance(1e-8));
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LE(report.iterations, 30);
  });
}

INSTANTIATE_TEST_SUITE_P(Dimensions, MultigridSolves,
                         ::testing::Combine(::testing::Values(2, 3),
                                            ::testing::ValuesIn(every_processor())),
                         [](const auto& tested) {
                           return std::to_string(std::get<0>(tested.param)) + "d" +
                                  place_name(std::get<1>(tested.param));
                         });

// Iterations of CG with a cycle to 1e-8.
int iterations(const Problem& problem, const MultigridOptions& options) {
  const auto a = finest_operator(problem.form);
  const auto made = make_multigrid<double, Host>(problem.form, options, a.get());
  HostVector<double> x(problem.size());
  const SolveReport report =
      cg<double, Host>(*a, made.cycle.get(), vector_of<double>(right_hand_side(problem, *a, 5)), x,
                       to_tolerance(1e-8));
  EXPECT_EQ(report.status, SolveStatus::converged);
  return report.iterations;
}

TEST(MultigridIterations, DoNotGrowWithCellsOrDegreeOnCubes) {
  for (const int dimension : {2, 3}) {
    const int nodes = dimension == 2 ? 24 : 12;  // along an axis
    int least = 1000;
    int most = 0;
    for (int degree = 1; degree <= 6; ++degree) {
      for (const int refined : {1, 2}) {
        const Index n = refined * std::max(nodes / degree, 2);
        const Problem problem = make_box_problem(dimension, degree, {n, n, n}, {1, 1, 1});
        const int found = iterations(problem, quick_options());
        EXPECT_LE(found, 8) << dimension << "D, degree " << degree << ", " << n << " cells";
        least = std::min(least, found);
        most = std::max(most, found);
      }
    }
    EXPECT_LE(most - least, 2) << dimension << "D";
  }
}

TEST(MultigridIterations, AreFewOnCurvedBoxesAndWhereCoefficientsJump) {
  for (const int dimension : {2, 3}) {
    for (const int degree : {1, 2, 4}) {
      ProblemOptions options;
      options.dimension = dimension;
      options.degree = degree;
      const Index n = (dimension == 2 ? 32 : 12) / degree;
      options.cells = {n, n, n};
      for (const Boundary boundary : {Boundary::mixed, Boundary::dirichlet}) {
        options.boundary = boundary;
        SCOPED_TRACE(describe(options));
        EXPECT_LE(iterations(make_problem(options), quick_options()), 14);
        EXPECT_LE(iterations(make_jumping_problem(options), quick_options()), 14);
      }
    }
  }
}

TEST(MultigridIterations, AreFewOnLongCells) {
  for (const int dimension : {2, 3}) {
    for (const int degree : {1, 2, 4}) {
      const Index n = (dimension == 2 ? 32 : 16) / degree;
      for (int d = 0; d < dimension; ++d) {
        Point edges = {1, 1, 1};
        edges[d] = 20.0;
        EXPECT_LE(
            iterations(make_box_problem(dimension, degree, {n, n, n}, edges), quick_options()), 15)
            << dimension << "D degree " << degree << " long along " << d;
        edges[d] = 1.0 / 20.0;
        EXPECT_LE(
            iterations(make_box_problem(dimension, degree, {n, n, n}, edges), quick_options()), 15)
            << dimension << "D degree " << degree << " flat along " << d;
      }
    }
  }
}

TEST(MultigridLevels, SayWhatTheyAre) {
  ProblemOptions options;
  options.degree = 4;
  options.cells = {7, 4, 3};
  options.geometry = Geometry::cartesian;
  options.coefficient = Coefficient::constant;
  const Problem problem = make_problem(options);
  const auto a = finest_operator(problem.form);
  const auto made = make_multigrid<double, Host>(problem.form, quick_options(), a.get());
  ASSERT_EQ(made.hierarchy->size(), made.levels.size());
  ASSERT_EQ(made.cycle->level_count(), made.levels.size());
  EXPECT_EQ(made.levels[0].strategy, "as the case's");
  EXPECT_EQ(&made.cycle->level_operator(0), a.get());
  for (std::size_t l = 0; l < made.levels.size(); ++l) {
    const LevelSummary& level = made.levels[l];
    EXPECT_EQ(level.shape, made.hierarchy->shape(l));
    EXPECT_EQ(level.dofs, made.cycle->level_operator(l).size());
    EXPECT_EQ(level.dofs, node_count(level.shape, 3));
    EXPECT_GT(level.bytes, 0);
    EXPECT_GT(level.cycle_bytes, 0.0);
    const bool is_coarsest = l + 1 == made.levels.size();
    EXPECT_EQ(level.largest_eigenvalue == 0.0, is_coarsest);
    if (is_coarsest) {
      EXPECT_LE(level.dofs, kSmallEnough);
    } else {
      EXPECT_GT(level.dofs, kSmallEnough);
    }
  }
}

// A coarsest level that is too large for its inverse is solved by Chebyshev's iteration.
TEST(MultigridLevels, AreAsFewAsAskedFor) {
  for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
    ProblemOptions options;
    options.dimension = 2;
    options.degree = 2;
    options.cells = {48, 44, 1};
    options.boundary = boundary;
    const Problem problem = make_problem(options);
    SCOPED_TRACE(describe(options));
    for (const int levels : {1, 2}) {
      MultigridOptions few = quick_options();
      few.rules.max_levels = levels;
      const auto made = make_multigrid<double, Host>(problem.form, few, nullptr);
      ASSERT_EQ(made.levels.size(), static_cast<std::size_t>(levels));
      ASSERT_GT(made.levels.back().dofs, kMaxDenseDofs);
      EXPECT_GT(made.levels.back().largest_eigenvalue, 0.0);
      const auto a = finest_operator(problem.form);
      HostVector<double> x(problem.size());
      const SolveReport report =
          cg<double, Host>(*a, made.cycle.get(), vector_of<double>(right_hand_side(problem, *a, 5)),
                           x, to_tolerance(1e-8));
      EXPECT_EQ(report.status, SolveStatus::converged);
      EXPECT_LE(report.iterations, 60) << levels;
    }
  }
}

// An arc of nearly a whole turn along x, which few cells cannot follow.
Problem make_arc_problem(int dimension, int degree, Index cells) {
  const auto angle = [](double x) { return 5.9 * x; };
  const auto radius = [](double y) { return 1.0 + 2.0 * y; };
  Problem problem;
  problem.discretization = std::make_unique<const Discretization>(make_mapped_discretization(
      BoxMesh(dimension, {cells, 3, 4}, {0, 0, 0}, {1, 1, 1}),
      make_basis(degree, NodeFamily::gauss_lobatto, QuadratureRule::gauss, degree + 1),
      {field_of([=](double x, double y, double) { return radius(y) * std::sin(angle(x)); }),
       field_of([=](double x, double y, double) { return radius(y) * std::cos(angle(x)); }),
       field_of([](double, double, double z) { return 3.0 * z; })}));
  problem.form.discretization = problem.discretization.get();
  problem.form.coefficient = constant_field(1.0);
  problem.form.dirichlet.set(static_cast<int>(Face::left));
  return problem;
}

TEST(MultigridLevels, EndWhereAMeshDoesNotResolveTheMap) {
  for (const int dimension : {2, 3}) {
    for (const int degree : {1, 2, 4}) {
      const Problem problem = make_arc_problem(dimension, degree, 12);
      MultigridOptions options = quick_options();
      options.rules.small_enough = 2;
      const Hierarchy planned(problem.form, options.rules);
      const auto made = make_multigrid<double, Host>(problem.form, options, nullptr);
      EXPECT_LT(made.levels.size(), planned.size());
      EXPECT_EQ(made.hierarchy->size(), made.levels.size());
      EXPECT_NE(made.note.find("would not resolve the map"), std::string::npos) << made.note;
      const auto a = finest_operator(problem.form);
      HostVector<double> x(problem.size());
      const SolveReport report =
          cg<double, Host>(*a, made.cycle.get(), vector_of<double>(right_hand_side(problem, *a, 5)),
                           x, to_tolerance(1e-8));
      EXPECT_EQ(report.status, SolveStatus::converged);
      EXPECT_LE(report.iterations, 20) << dimension << "D degree " << degree;
    }
  }
}

// Robin faces whose alpha is zero are Neumann faces.
TEST(MultigridOfNeumannProblems, SeesThroughAlphasThatAreZero) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::curved}) {
    ProblemOptions options;
    options.dimension = 2;
    options.degree = 2;
    options.cells = {8, 7, 1};
    options.boundary = Boundary::none;
    options.geometry = geometry;
    options.coefficient = Coefficient::constant;
    Problem problem = make_problem(options);
    const auto a = finest_operator(problem.form);
    const HostVector<double> b = vector_of<double>(right_hand_side(problem, *a, 3));
    problem.form.robin.push_back({static_cast<int>(Face::right), constant_field(0.0)});
    const auto made = make_multigrid<double, Host>(problem.form, quick_options(), nullptr);
    HostVector<double> x(problem.size());
    const SolveReport report = cg<double, Host>(*a, made.cycle.get(), b, x, to_tolerance(1e-10));
    EXPECT_EQ(report.status, SolveStatus::converged);
    EXPECT_LE(report.iterations, 15);
    for (const double value : x.span()) EXPECT_LT(std::abs(value), 100.0);
  }
}

TEST(LevelStrategies, AreKroneckerWhereTheFormIsASumOfProducts) {
  ProblemOptions options;
  options.dimension = 2;
  options.degree = 2;
  for (const ProblemOptions& each : with_every_form(options)) {
    const Problem problem = make_problem(each);
    const FormShape shape = shape_on(problem.form);
    const StrategyName strategy = choose_strategy(shape, "private");
    const bool is_product = why_unsuitable({"kronecker"}, shape).empty();
    EXPECT_EQ(strategy.kernel, is_product ? "kronecker" : "tensor") << describe(each);
    EXPECT_EQ(strategy.scatter, is_product ? "none" : "private") << describe(each);
    EXPECT_TRUE(why_unsuitable(strategy, shape).empty()) << describe(each);
  }
}

// What steps leave of an error that belongs to this eigenvalue of D^-1 A.
double left_by(const std::vector<double>& steps, double eigenvalue) {
  double left = 1.0;
  for (const double length : steps) left *= 1.0 - length * eigenvalue;
  return std::abs(left);
}

TEST(SmootherSteps, ReduceErrorsOfLargeEigenvaluesTheMoreTheMoreTheyAre) {
  for (const double largest : {1.3, 2.2, 3.0}) {
    const Spectrum spectrum{0.01, 0.97 * largest, largest, 12};
    double last = 1.0;
    for (const int degree : {1, 2, 4, 6, 8, 16}) {
      const std::vector<double> steps = smoother_steps(degree, spectrum);
      ASSERT_EQ(steps.size(), static_cast<std::size_t>(degree));
      double most = 0.0;
      for (int i = 0; i <= 1000; ++i) {
        const double eigenvalue = largest * i / 1000.0;
        if (i >= 200) most = std::max(most, left_by(steps, eigenvalue));
      }
      // The largest eigenvalue may be above the bound.
      for (int i = 0; i <= 1119; ++i) {
        EXPECT_LT(left_by(steps, 0.001 * i * largest), 1.0 + 1e-12) << degree << ' ' << i;
      }
      EXPECT_LT(most, last) << degree;
      last = most;
      if (degree >= 4) {
        EXPECT_LT(most, 0.3);
      }
    }
  }
}

}  // namespace
}  // namespace tessera::testing
