// These tests hold multigrid on ranks, which are threads, to multigrid on one.
#include <gtest/gtest.h>

#include "solvers/krylov/cg.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/everywhere.hpp"
#include "tests/operators/ranks/rank_multigrid.hpp"

namespace tessera::testing {
namespace {

struct Solved {
  SolveReport report;
  std::vector<double> x;
  std::vector<LevelSummary> levels;
  std::string note;
};

// Solves by CG with cycles in precision C.
template <class C, class Space>
std::pair<SolveReport, MultigridSetup<C, Space>> solve(const BilinearForm& form,
                                                       const MultigridOptions& options,
                                                       const HostVector<double>& b,
                                                       HostVector<double>& x) {
  const FormShape shape = whole_shape(form, kProcessorOf<Space>, sizeof(double));
  const auto a = make_operator<double, Space>(choose_strategy(shape, "coloring"), form);
  const LinearOperator<C, Space>* finest = nullptr;
  if constexpr (std::is_same_v<C, double>) finest = a.get();
  auto made = make_multigrid<C, Space>(form, options, finest);
  std::unique_ptr<const Preconditioner<double, Space>> m;
  if constexpr (std::is_same_v<C, double>) {
    m = std::move(made.cycle);
  } else {
    m = std::make_unique<InSinglePrecision<Space>>(a->layout(), std::move(made.cycle));
  }
  const auto solver = make_cg<double, Space>(*a, m.get());
  auto solution = in_space<Space>(x);
  const SolveReport report = solver->solve(in_space<Space>(b), solution, to_tolerance(1e-12));
  copy(solution, x);
  return {report, std::move(made)};
}

template <class Space, class C = double>
Solved solved_on_one(const Shared& shared, const MultigridOptions& options) {
  HostVector<double> x(shared.whole.size());
  auto [report, made] = solve<C, Space>(shared.whole.form, options, vector_of<double>(shared.b), x);
  return {report, values_of(x), made.levels, made.note};
}

// What all ranks have alike is that of the first.
template <class Space, class C = double>
Solved solved_on_ranks(const Shared& shared, const MultigridOptions& options) {
  Solved of_first;
  run_on_threads(shared.rank_count(), [&](const Communicator& ranks) {
    const RankProblem mine(ranks, shared.partition, shared.whole, kProcessorOf<Space>);
    HostVector<double> x(mine.layout());
    auto [report, made] = solve<C, Space>(mine.form(), options, mine.taken<double>(shared.b), x);
    EXPECT_TRUE(mine.agrees(x));
    Solved solved{report, mine.gathered(x), made.levels, made.note};
    for (const LevelSummary& level : solved.levels) {
      for (const Index dofs : ranks.all_gather(level.dofs)) EXPECT_EQ(dofs, level.dofs);
      for (const double value : ranks.all_gather(level.largest_eigenvalue)) {
        EXPECT_EQ(value, level.largest_eigenvalue);
      }
    }
    EXPECT_EQ(ranks.broadcast(solved.note), solved.note);
    if (ranks.rank() == 0) of_first = std::move(solved);
  });
  return of_first;
}

void expect_same(const Shared& shared, const Solved& one, const Solved& several) {
  EXPECT_EQ(one.report.status, SolveStatus::converged);
  EXPECT_EQ(several.report.status, SolveStatus::converged);
  EXPECT_LE(one.report.iterations, 40);
  EXPECT_NEAR(several.report.iterations, one.report.iterations, 1);
  const bool is_singular = is_pure_neumann(shared.whole.form);
  const auto values = [&](const std::vector<double>& x) {
    return is_singular ? without_mean(vector_of<double>(x)) : x;
  };
  EXPECT_LE(relative_difference(vector_of<double>(values(several.x)), values(one.x)), 1e-10);
  ASSERT_EQ(several.levels.size(), one.levels.size());
  for (std::size_t l = 0; l < one.levels.size(); ++l) {
    EXPECT_EQ(several.levels[l].shape, one.levels[l].shape) << l;
    EXPECT_EQ(several.levels[l].dofs, one.levels[l].dofs) << l;
    EXPECT_NEAR(several.levels[l].largest_eigenvalue, one.levels[l].largest_eigenvalue, 1e-5) << l;
  }
  EXPECT_EQ(several.note, one.note);
}

template <class Space, class C = double>
void expect_the_solve_of_one_rank(const Shared& shared, const MultigridOptions& options) {
  const Solved one = solved_on_one<Space, C>(shared, options);
  const Solved several = solved_on_ranks<Space, C>(shared, options);
  expect_same(shared, one, several);
}

// Ranks that share a GPU wait for each other at every sum: there are fewer of them.
std::vector<RankGrid> grids(int dimension, Processor processor) {
  if (processor == Processor::gpu) {
    return dimension == 2 ? std::vector<RankGrid>{{3, 1, 1}, {2, 2, 1}}
                          : std::vector<RankGrid>{{1, 1, 2}, {2, 1, 2}};
  }
  if (dimension == 2) return {{1, 1, 1}, {1, 2, 1}, {3, 1, 1}, {2, 2, 1}, {3, 2, 1}};
  return {{1, 1, 1}, {1, 1, 2}, {1, 1, 3}, {2, 1, 2}, {1, 2, 3}};
}

class RankMultigrid : public EveryProcessorTest<std::tuple<Processor, int>> {
 protected:
  static int dimension() { return std::get<int>(GetParam()); }

 private:
  ThreadsInUse threads_{1};
};
class RankMultigrids : public EveryProcessorTest<std::tuple<Processor>> {
 private:
  ThreadsInUse threads_{1};
};

TEST_P(RankMultigrid, SolvesAsOneRankWhateverTheGeometryAndTheBoundary) {
  in_space_of_processor([&]<class Space>() {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::graded, Geometry::curved}) {
      for (const Boundary boundary : {Boundary::none, Boundary::mixed, Boundary::dirichlet}) {
        if (processor() == Processor::gpu && boundary == Boundary::dirichlet) continue;
        ProblemOptions options = options_for_ranks(dimension());
        options.geometry = geometry;
        options.boundary = boundary;
        if (geometry != Geometry::curved) options.coefficient = Coefficient::separable;
        SCOPED_TRACE(describe(options));
        const RankGrid grid = dimension() == 2 ? RankGrid{2, 2, 1} : RankGrid{1, 1, 2};
        expect_the_solve_of_one_rank<Space>(Shared(options, grid), options_of(50));
      }
    }
  });
}

TEST_P(RankMultigrid, SolvesAsOneRankOnEveryGrid) {
  in_space_of_processor([&]<class Space>() {
    for (const RankGrid& grid : grids(dimension(), processor())) {
      const Shared shared(options_for_ranks(dimension()), grid);
      SCOPED_TRACE(shared.rank_count());
      const Solved one = solved_on_one<Space>(shared, options_of(kNeverGather));
      for (const Index gather_dofs : {kNeverGather, kAlwaysGather}) {
        expect_same(shared, one, solved_on_ranks<Space>(shared, options_of(gather_dofs)));
      }
    }
  });
}

// The first level that is gathered is any but the finest, and none.
TEST_P(RankMultigrid, GathersAtEveryLevel) {
  in_space_of_processor([&]<class Space>() {
    ProblemOptions options = options_for_ranks(dimension());
    options.cells[2] = 16;
    const Shared shared(options, dimension() == 2 ? RankGrid{1, 2, 1} : RankGrid{1, 1, 2});
    // Two layers of cells at least, which both ranks have one of.
    constexpr Index kSmallest = 60;
    const Solved one = solved_on_one<Space>(shared, options_of(kNeverGather, kSmallest));
    const std::size_t levels = one.levels.size();
    ASSERT_GE(levels, 3U);
    for (std::size_t first = 1; first <= levels; ++first) {
      SCOPED_TRACE(first);
      const Index gather_dofs =
          first == levels ? kNeverGather : ceil_div(one.levels[first].dofs, shared.rank_count());
      run_on_threads(shared.rank_count(), [&](const Communicator& ranks) {
        const RankProblem mine(ranks, shared.partition, shared.whole);
        const Hierarchy hierarchy(mine.form(), options_of(0, kSmallest).rules, gather_dofs);
        ASSERT_EQ(hierarchy.size(), levels);
        for (std::size_t l = 0; l < levels; ++l) EXPECT_EQ(hierarchy.is_gathered(l), l >= first);
      });
      expect_same(shared, one, solved_on_ranks<Space>(shared, options_of(gather_dofs, kSmallest)));
    }
  });
}

// Cuts that run through cells of the first coarser mesh, and parts of one cell.
TEST_P(RankMultigrid, GathersWherePartsCutCoarserCells) {
  in_space_of_processor([&]<class Space>() {
    for (const Geometry geometry : {Geometry::cartesian, Geometry::graded, Geometry::curved}) {
      for (const NodeFamily nodes : {NodeFamily::gauss_lobatto, NodeFamily::equidistant}) {
        if (processor() == Processor::gpu && nodes == NodeFamily::equidistant) continue;
        ProblemOptions options = options_for_ranks(dimension());
        options.geometry = geometry;
        options.nodes = nodes;
        options.cells = dimension() == 2 ? IndexTriple{10, 7, 1} : IndexTriple{5, 6, 3};
        SCOPED_TRACE(describe(options));
        const RankGrid grid = dimension() == 2 ? RankGrid{1, 5, 1} : RankGrid{1, 2, 3};
        MultigridOptions cells_first = options_of(kNeverGather);
        cells_first.rules.order = CoarseningOrder::cells_first;
        const Shared shared(options, grid);
        EXPECT_FALSE(shared.partition.fits({5, dimension() == 2 ? 4 : 3, 2}));
        expect_the_solve_of_one_rank<Space>(shared, cells_first);
      }
    }
  });
}

TEST_P(RankMultigrid, HasTheSameBitsTwice) {
  in_space_of_processor([&]<class Space>() {
    const Shared shared(options_for_ranks(dimension()),
                        dimension() == 2 ? RankGrid{3, 2, 1} : RankGrid{2, 1, 2});
    for (const Index gather_dofs : {kNeverGather, Index{40}}) {
      const Solved first = solved_on_ranks<Space>(shared, options_of(gather_dofs));
      const Solved second = solved_on_ranks<Space>(shared, options_of(gather_dofs));
      EXPECT_EQ(second.report.history, first.report.history);
      EXPECT_EQ(second.x, first.x);
    }
  });
}

TEST_P(RankMultigrid, SolvesInSinglePrecision) {
  in_space_of_processor([&]<class Space>() {
    const Shared shared(options_for_ranks(dimension()),
                        dimension() == 2 ? RankGrid{2, 2, 1} : RankGrid{1, 1, 3});
    const Solved one = solved_on_one<Space, float>(shared, options_of(kNeverGather));
    for (const Index gather_dofs : {kNeverGather, Index{60}}) {
      expect_same(shared, one, solved_on_ranks<Space, float>(shared, options_of(gather_dofs)));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Dimensions, RankMultigrid,
                         ::testing::Combine(::testing::ValuesIn(every_processor()),
                                            ::testing::Values(2, 3)),
                         [](const auto& tested) {
                           return std::to_string(std::get<int>(tested.param)) + "d" +
                                  place_name(std::get<Processor>(tested.param));
                         });
INSTANTIATE_TEST_SUITE_P(Places, RankMultigrids,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         [](const auto& tested) {
                           return place_name(std::get<Processor>(tested.param));
                         });

// Parts of unequal size that are cut where cells are merged, the last of an odd number.
TEST_P(RankMultigrids, TakeUnevenPartsOfOddCells) {
  in_space_of_processor([&]<class Space>() {
    ProblemOptions options = options_for_ranks(2);
    options.cells = {3, 43, 1};
    options.degree = 3;
    const Shared shared(options, {1, 2, 1});
    EXPECT_TRUE(shared.partition.fits({2, 22, 1}));
    EXPECT_NE(2 * shared.partition.cells(0).counts[1], 43);
    for (const Index gather_dofs : {kNeverGather, Index{100}}) {
      expect_the_solve_of_one_rank<Space>(shared, options_of(gather_dofs));
    }
  });
}

// A coarsest level that is shared out, and too large for its inverse.
TEST_P(RankMultigrids, SolveLargeCoarsestLevelsByChebyshevsIteration) {
  in_space_of_processor([&]<class Space>() {
    const Shared shared({.dimension = 2, .degree = 2, .cells = {40, 42, 1}}, {2, 2, 1});
    MultigridOptions options = options_of(kNeverGather);
    options.rules.small_enough = 2000;
    const Solved one = solved_on_one<Space>(shared, options);
    ASSERT_GT(one.levels.back().dofs, kMaxDenseDofs);
    expect_same(shared, one, solved_on_ranks<Space>(shared, options));
  });
}

// The finest level is the coarsest as well.
TEST_P(RankMultigrids, SolveByTheInverseOfAllRanksParts) {
  in_space_of_processor([&]<class Space>() {
    const Shared shared({.dimension = 2, .degree = 2, .cells = {6, 5, 1}}, {3, 2, 1});
    MultigridOptions options;
    const Solved one = solved_on_one<Space>(shared, options);
    ASSERT_EQ(one.levels.size(), 1U);
    const Solved several = solved_on_ranks<Space>(shared, options);
    expect_same(shared, one, several);
    EXPECT_LE(several.report.iterations, 2);
  });
}

// Coefficient and state that depend on u: levels have u of the whole.
TEST_P(RankMultigrids, TakeTheState) {
  if (processor() == Processor::gpu) GTEST_SKIP() << "operators on GPUs have no state";
  in_space_of_processor([&]<class Space>() {
    for (const IndexTriple& cells : {IndexTriple{8, 12, 1}, IndexTriple{9, 6, 1}}) {
      Problem problem = make_problem({.dimension = 2, .degree = 2, .cells = cells});
      std::vector<double> u(static_cast<std::size_t>(problem.size()));
      const NodeLattice& lattice = problem.discretization->lattice;
      for (Index node = 0; node < problem.size(); ++node) {
        const IndexTriple at = lattice.node_position(node);
        u[node] = 1.0 + 0.05 * static_cast<double>(at[0]) + 0.02 * static_cast<double>(at[1]);
      }
      problem.form.coefficient = {[](const PointBlock& points, double* values) {
                                    for (std::size_t i = 0; i < points.n; ++i) {
                                      values[i] = 1.0 + points.u[i] * points.u[i];
                                    }
                                  },
                                  std::nullopt, nullptr, nullptr, true};
      problem.form.state = std::make_shared<const HostState>(HostArray<double>(u.begin(), u.end()));
      const Shared shared(std::move(problem), {2, 2, 1});
      for (const Index gather_dofs : {kNeverGather, Index{50}}) {
        expect_the_solve_of_one_rank<Space>(shared, options_of(gather_dofs));
      }
    }
  });
}

// The coefficient is not positive at a point that only a coarser level looks at, of one rank.
TEST_P(RankMultigrids, DropALevelThatOneRankDoesNotResolve) {
  in_space_of_processor([&]<class Space>() {
    for (const double place : {0.1, 0.9}) {
      ProblemOptions options{.dimension = 2, .degree = 1, .cells = {16, 16, 1}};
      options.geometry = Geometry::cartesian;
      Problem problem = make_problem(options);
      const BoxMesh& mesh = problem.discretization->mesh;
      // Around a Gauss point of the second level, away from those of the first.
      const double width = mesh.upper()[1] - mesh.lower()[1];
      const double h = width / 8.0;
      const Index cell = place < 0.5 ? 1 : 6;
      const double y_bad =
          mesh.lower()[1] + h * (static_cast<double>(cell) + 0.5 - 0.5 / std::sqrt(3.0));
      problem.form.coefficient = field_of([=](double, double y, double) {
        return std::abs(y - y_bad) < 1e-6 * width ? -1.0 : 1.0;
      });
      const Shared shared(std::move(problem), {1, 2, 1});
      for (const Index gather_dofs : {kNeverGather, kAlwaysGather}) {
        const Solved one = solved_on_one<Space>(shared, options_of(gather_dofs));
        EXPECT_EQ(one.levels.size(), 1U);
        EXPECT_FALSE(one.note.empty());
        expect_same(shared, one, solved_on_ranks<Space>(shared, options_of(gather_dofs)));
        run_on_threads(2, [&](const Communicator& ranks) {
          const RankProblem mine(ranks, shared.partition, shared.whole);
          Hierarchy hierarchy(mine.form(), options_of(0).rules, gather_dofs);
          EXPECT_EQ(drop_unresolved(hierarchy), one.note);
          EXPECT_EQ(hierarchy.size(), 1U);
        });
      }
    }
  });
}

}  // namespace
}  // namespace tessera::testing
