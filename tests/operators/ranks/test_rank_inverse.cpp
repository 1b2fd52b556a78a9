// These tests hold fast diagonalization on ranks, which are threads, to that on one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "mesh/threads_in_use.hpp"
#include "operators/fast_diagonalization/on_ranks.hpp"
#include "solvers/krylov/cg.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/everywhere.hpp"
#include "tests/operators/fast_diagonalization/fast_diagonalization_cases.hpp"
#include "tests/operators/ranks/rank_checks.hpp"
#include "tests/operators/test_names.hpp"
#include "tests/solvers/solve_once.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

// z = B^-1 r with the layout of r, whatever z held.
template <class T, class Space>
HostVector<T> inverse_of(const FastDiagonalization<T, Space>& inverse, const HostVector<T>& r) {
  Vector<T, Space> z(r.layout());
  fill(z, std::numeric_limits<T>::quiet_NaN());
  inverse.apply(in_space<Space>(r), z);
  return testing::on_host(z);
}

template <class T, class Space>
void expect_same_inverse(const Problem& problem, const std::vector<RankGrid>& grids) {
  const auto one = make_fast_diagonalization<T, Space>(problem.form);
  const std::vector<double> r = random_values(problem.size(), 7);
  const std::vector<double> expected = values_of(inverse_of(*one, vector_of<T>(r)));
  double largest = 0.0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  const double tolerance = in_precision<T>(1e-11, 2e-4) * largest;
  for (const RankGrid& grid : grids) {
    SCOPED_TRACE(::testing::Message() << grid[0] << "x" << grid[1] << "x" << grid[2]);
    run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
      const RankProblem mine(ranks, BoxPartition(problem.discretization->mesh, grid), problem,
                             kProcessorOf<Space>);
      const auto inverse = make_fast_diagonalization<T, Space>(mine.form());
      EXPECT_EQ(inverse->exactness(), one->exactness());
      for (int end = 0; end < 2; ++end) {
        EXPECT_NEAR(inverse->eigenvalue_range()[end], one->eigenvalue_range()[end],
                    1e-9 * one->eigenvalue_range()[1]);
      }
      const HostVector<T> z = inverse_of(*inverse, mine.taken<T>(r));
      EXPECT_TRUE(mine.agrees(z));
      EXPECT_TRUE(same_bits(inverse_of(*inverse, mine.taken<T>(r)), z)) << "the same bits again";
      const std::vector<double> several = mine.gathered(z);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(several[i], expected[i], tolerance) << i;
      }
    });
  }
}

// Both precisions.
template <class Space>
void expect_same_inverses(const Problem& problem, const std::vector<RankGrid>& grids) {
  expect_same_inverse<double, Space>(problem, grids);
  expect_same_inverse<float, Space>(problem, grids);
}

// Slabs of one to four ranks, as many as there are cells for.
std::vector<RankGrid> slabs(const Problem& problem) {
  const BoxMesh& mesh = problem.discretization->mesh;
  const int outer = mesh.dimension() - 1;
  std::vector<RankGrid> grids;
  for (int ranks = 1; ranks <= 4 && ranks <= mesh.cells()[outer]; ++ranks) {
    RankGrid grid{1, 1, 1};
    grid[outer] = ranks;
    grids.push_back(grid);
  }
  return grids;
}

class RankInverse : public EveryProcessorTest<std::tuple<Processor>> {
 private:
  ThreadsInUse threads_{1};
};

TEST_P(RankInverse, IsThatOfOneRankWhereItIsExact) {
  in_space_of_processor([]<class Space>() {
    for_each_exact_case(3, 2, [](const Problem& problem) {
      const IndexTriple& cells = problem.discretization->mesh.cells();
      if (cells[2] == 2) expect_same_inverse<double, Space>(problem, {{1, 1, 2}, {2, 1, 1}});
      if (cells[2] == 3) expect_same_inverse<double, Space>(problem, {{1, 2, 2}, {1, 1, 3}});
    });
    for_each_exact_case(2, 3, [](const Problem& problem) {
      const IndexTriple& cells = problem.discretization->mesh.cells();
      if (cells[1] == 3) expect_same_inverse<double, Space>(problem, {{1, 3, 1}, {2, 2, 1}});
    });
  });
}

// 7 cells for 2, 3 and 4 ranks; faces whose axes are folded and not.
TEST_P(RankInverse, IsThatOfOneRankWhereSlabsAreUneven) {
  in_space_of_processor([]<class Space>() {
    ProblemOptions options;
    options.degree = 3;
    options.coefficient = Coefficient::constant;
    for (const int dimension : {2, 3}) {
      options.dimension = dimension;
      options.cells = dimension == 2 ? IndexTriple{5, 7, 1} : IndexTriple{3, 4, 7};
      for (const Geometry geometry : {Geometry::cartesian, Geometry::graded}) {
        options.geometry = geometry;
        for (const Boundary boundary : {Boundary::dirichlet, Boundary::mixed, Boundary::none}) {
          options.boundary = boundary;
          SCOPED_TRACE(describe(options));
          Problem problem = make_problem(options);
          expect_same_inverses<Space>(problem, slabs(problem));
          problem.form.reaction = constant_field(3.0);
          expect_same_inverse<double, Space>(problem, {slabs(problem).back()});
        }
      }
    }
  });
}

// One free node along an axis or none; ranks without planes, and without lines.
TEST_P(RankInverse, IsThatOfOneRankInThinBoxes) {
  in_space_of_processor([]<class Space>() {
    ProblemOptions options;
    options.degree = 1;
    options.geometry = Geometry::graded;
    options.coefficient = Coefficient::constant;
    options.boundary = Boundary::dirichlet;
    for (const int dimension : {2, 3}) {
      options.dimension = dimension;
      for (const IndexTriple& cells :
           {IndexTriple{2, 3, 4}, IndexTriple{3, 2, 4}, IndexTriple{2, 2, 2}, IndexTriple{3, 1, 2},
            IndexTriple{2, 4, 2}}) {
        options.cells = cells;
        SCOPED_TRACE(describe(options));
        const Problem problem = make_problem(options);
        std::vector<RankGrid> grids = slabs(problem);
        grids.push_back({2, 1, 1});
        expect_same_inverse<double, Space>(problem, grids);
      }
    }
  });
}

// On the GPU more places along x than a block has threads.
TEST_P(RankInverse, IsThatOfOneRankWhereAxesAreLong) {
  in_space_of_processor([]<class Space>() {
    ProblemOptions options;
    options.degree = 4;
    options.geometry = Geometry::cartesian;
    options.coefficient = Coefficient::constant;
    options.boundary = Boundary::dirichlet;
    for (const IndexTriple& cells :
         {IndexTriple{70, 3, 4}, IndexTriple{3, 70, 4}, IndexTriple{3, 4, 66}}) {
      for (const int dimension : {2, 3}) {
        options.dimension = dimension;
        options.cells = cells;
        SCOPED_TRACE(describe(options));
        const Problem problem = make_problem(options);
        expect_same_inverses<Space>(problem, {slabs(problem).back(), {2, 1, 1}});
      }
    }
  });
}

TEST_P(RankInverse, IsThatOfOneRankWhereItIsNearToTheOperator) {
  in_space_of_processor([]<class Space>() {
    ProblemOptions options;
    options.degree = 2;
    options.geometry = Geometry::curved;
    options.coefficient = Coefficient::variable;
    for (const int dimension : {2, 3}) {
      options.dimension = dimension;
      options.cells = {3, 4, 4};
      const std::vector<RankGrid> grids = dimension == 3
                                              ? std::vector<RankGrid>{{1, 1, 3}, {2, 2, 1}}
                                              : std::vector<RankGrid>{{1, 3, 1}, {3, 2, 1}};
      const Problem problem = make_problem(options);
      expect_same_inverses<Space>(problem, grids);
      // A number for a reaction beside a coefficient that varies, and an alpha that does.
      Problem robin = make_problem(options);
      robin.form.dirichlet = FaceSet(0b1);
      robin.form.robin = {{1, constant_field(2.0)}, {3, constant_field(0.7)}};
      robin.form.reaction = constant_field(3.0);
      expect_same_inverse<double, Space>(robin, grids);
    }
  });
}

TEST_P(RankInverse, TakesAnotherReaction) {
  in_space_of_processor([]<class Space>() {
    ProblemOptions options;
    options.cells = {2, 3, 4};
    options.geometry = Geometry::graded;
    options.coefficient = Coefficient::constant;
    options.boundary = Boundary::dirichlet;
    for (const int dimension : {2, 3}) {
      options.dimension = dimension;
      Problem problem = make_problem(options);
      problem.form.reaction = constant_field(1.0);
      const std::vector<double> r = random_values(problem.size(), 7);
      run_on_threads(2, [&](const Communicator& ranks) {
        const BoxPartition partition(problem.discretization->mesh,
                                     {1, dimension == 2 ? 2 : 1, dimension == 2 ? 1 : 2});
        const RankProblem first(ranks, partition, problem, kProcessorOf<Space>);
        BilinearForm changed = first.form();
        changed.reaction = constant_field(40.0);
        const auto updated = make_fast_diagonalization<double, Space>(first.form());
        ASSERT_EQ(updated->update(changed), Updated::yes);
        const auto made = make_fast_diagonalization<double, Space>(changed);
        EXPECT_TRUE(same_bits(inverse_of(*updated, first.taken<double>(r)),
                              inverse_of(*made, first.taken<double>(r))));
      });
    }
  });
}

// What is foreseen of memory is what is held.
TEST_P(RankInverse, HoldsWhatIsForeseen) {
  in_space_of_processor([]<class Space>() {
    ProblemOptions options;
    options.degree = 3;
    for (const int dimension : {2, 3}) {
      options.dimension = dimension;
      options.cells = {4, 5, 6};
      const Problem problem = make_problem(options);
      const Discretization& space = *problem.discretization;
      for (const RankGrid& grid :
           {RankGrid{1, dimension == 2 ? 3 : 1, dimension == 2 ? 1 : 3}, RankGrid{2, 2, 1}}) {
        const BoxPartition partition(space.mesh, grid);
        run_on_threads(partition.rank_count(), [&](const Communicator& ranks) {
          const RankProblem mine(ranks, partition, problem, kProcessorOf<Space>);
          const auto foreseen = [&](Index value_bytes) {
            return rank_fast_diagonalization_bytes(space.lattice, problem.form.dirichlet,
                                                   symmetry_of(problem.form), partition,
                                                   ranks.rank(), value_bytes, kProcessorOf<Space>);
          };
          EXPECT_EQ((make_fast_diagonalization<double, Space>(mine.form())->bytes()),
                    foreseen(sizeof(double)));
          EXPECT_EQ((make_fast_diagonalization<float, Space>(mine.form())->bytes()),
                    foreseen(sizeof(float)));
        });
      }
    }
  });
}

template <class Space>
SolveReport solve(const BilinearForm& form, const HostVector<double>& b, HostVector<double>& x) {
  const auto a = make_operator<double, Space>({"tensor", "coloring"}, form);
  const auto m = make_fast_diagonalization<double, Space>(form);
  const auto solver = make_cg<double, Space>(*a, m.get());
  auto solution = in_space<Space>(x);
  const SolveReport report = solver->solve(in_space<Space>(b), solution, to_tolerance(1e-12));
  copy(solution, x);
  return report;
}

TEST_P(RankInverse, SolvesAsOneRank) {
  in_space_of_processor([]<class Space>() {
    ProblemOptions options;
    options.degree = 3;
    options.cells = {4, 3, 5};
    options.geometry = Geometry::curved;
    options.coefficient = Coefficient::constant;
    options.boundary = Boundary::mixed;
    const Problem problem = make_problem(options);
    const std::vector<double> b = random_values(problem.size(), 5);
    HostVector<double> x(problem.size());
    const SolveReport one = solve<Space>(problem.form, vector_of<double>(b), x);
    EXPECT_EQ(one.status, SolveStatus::converged);
    for (const RankGrid& grid : {RankGrid{1, 1, 1}, RankGrid{1, 1, 3}, RankGrid{2, 1, 2}}) {
      run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
        const RankProblem mine(ranks, BoxPartition(problem.discretization->mesh, grid), problem,
                               kProcessorOf<Space>);
        HostVector<double> part(mine.layout());
        const SolveReport several = solve<Space>(mine.form(), mine.taken<double>(b), part);
        EXPECT_EQ(several.status, SolveStatus::converged);
        EXPECT_NEAR(several.iterations, one.iterations, 1);
        EXPECT_TRUE(mine.agrees(part));
        EXPECT_LE(relative_difference(x, mine.gathered(part)), 1e-10);
      });
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Processors, RankInverse,
                         ::testing::Combine(::testing::ValuesIn(every_processor())),
                         name_of_processor);

}  // namespace
}  // namespace tessera::testing
