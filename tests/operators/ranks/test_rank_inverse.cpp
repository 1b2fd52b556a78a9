// These tests hold fast diagonalization on ranks, which are threads, to that on one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "operators/fast_diagonalization/on_ranks.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/operators/fast_diagonalization/fast_diagonalization_cases.hpp"
#include "tests/operators/ranks/rank_checks.hpp"
#include "tests/thread_count.hpp"
#include "tests/vectors.hpp"

namespace tessera::testing {
namespace {

// Of some nodes of a box, numbered among all nodes by a formula.
double value_at(const IndexTriple& i) {
  return static_cast<double>(i[0] + 100 * i[1] + 10000 * i[2]) + 0.5;
}

template <class F>
void for_each(const NodeBox& box, F f) {
  for (Index k = box.first[2]; k < box.end[2]; ++k) {
    for (Index j = box.first[1]; j < box.end[1]; ++j) {
      for (Index i = box.first[0]; i < box.end[0]; ++i) f(IndexTriple{i, j, k});
    }
  }
}

// Boxes that overlap, are empty, or are a rank's own: each gets the values of all of its nodes.
TEST(BoxExchange, BringsEveryBoxItsValues) {
  const NodeBox all{{1, 0, 2}, {6, 7, 11}};
  const std::vector<NodeBox> slabs = {
      {{1, 0, 2}, {6, 7, 5}}, {{1, 0, 5}, {6, 7, 5}}, {{1, 0, 5}, {6, 7, 11}}};
  const std::vector<std::vector<NodeBox>> targets = {
      {{{1, 0, 2}, {6, 2, 11}}, {{1, 2, 2}, {6, 3, 11}}, {{1, 3, 2}, {6, 7, 11}}},
      {{{1, 0, 2}, {4, 7, 7}}, {{3, 0, 4}, {6, 7, 11}}, {{1, 1, 1}, {1, 1, 1}}},
      slabs,
      {all, all, all}};
  for (const std::vector<NodeBox>& to : targets) {
    run_on_threads(3, [&](const Communicator& ranks) {
      const auto mine = static_cast<std::size_t>(ranks.rank());
      const BoxExchange<double> exchange(ranks, slabs, to);
      EXPECT_EQ(exchange.bytes(), 8 * exchanged_values(ranks.rank(), slabs, to));
      // Not packed: rows of 9, planes of 80.
      const BoxPlaces in{3, {9, 80}};
      std::vector<double> from(1000, std::numeric_limits<double>::quiet_NaN());
      for_each(slabs[mine], [&](const IndexTriple& i) { from[in.of(i)] = value_at(i); });
      std::vector<double> out(static_cast<std::size_t>(to[mine].size()), -1.0);
      for (int time = 0; time < 2; ++time) {
        exchange.run(from.data(), in, out.data(), packed(to[mine]));
        for_each(to[mine], [&](const IndexTriple& i) {
          EXPECT_EQ(out[packed(to[mine]).of(i)], value_at(i));
        });
      }
    });
  }
}

template <class T>
std::vector<double> applied(const FastDiagonalization<T, Host>& inverse, const HostVector<T>& r,
                            HostVector<T>& z) {
  fill(z, std::numeric_limits<T>::quiet_NaN());
  inverse.apply(r, z);
  return {z.data(), z.data() + z.size()};
}

template <class T>
void expect_same_inverse(const Problem& problem, const std::vector<RankGrid>& grids) {
  const auto one = make_fast_diagonalization<T>(problem.form);
  const std::vector<double> r = random_values(problem.size(), 7);
  HostVector<T> whole_z(one->size());
  const std::vector<double> expected = applied(*one, vector_of<T>(r), whole_z);
  double largest = 0.0;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  const double tolerance = (sizeof(T) == sizeof(double) ? 1e-11 : 2e-4) * largest;
  for (const RankGrid& grid : grids) {
    SCOPED_TRACE(::testing::Message() << grid[0] << "x" << grid[1] << "x" << grid[2]);
    run_on_threads(grid[0] * grid[1] * grid[2], [&](const Communicator& ranks) {
      const RankProblem mine(ranks, BoxPartition(problem.discretization->mesh, grid), problem);
      const auto inverse = make_fast_diagonalization<T>(mine.form());
      EXPECT_EQ(inverse->exactness(), one->exactness());
      for (int end = 0; end < 2; ++end) {
        EXPECT_NEAR(inverse->eigenvalue_range()[end], one->eigenvalue_range()[end],
                    1e-9 * one->eigenvalue_range()[1]);
      }
      HostVector<T> z(mine.layout());
      applied(*inverse, mine.taken<T>(r), z);
      EXPECT_TRUE(mine.agrees(z));
      const std::vector<double> several = mine.gathered(z);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(several[i], expected[i], tolerance) << i;
      }
    });
  }
}

TEST(RankInverse, IsThatOfOneRankWhereItIsExact) {
  const ThreadCount one(1);
  for_each_exact_case(3, 2, [](const Problem& problem) {
    const IndexTriple& cells = problem.discretization->mesh.cells();
    if (cells[2] == 2) expect_same_inverse<double>(problem, {{1, 1, 2}, {2, 1, 1}});
    if (cells[2] == 3) expect_same_inverse<double>(problem, {{1, 2, 2}});
  });
  for_each_exact_case(2, 3, [](const Problem& problem) {
    const IndexTriple& cells = problem.discretization->mesh.cells();
    if (cells[1] == 3) expect_same_inverse<double>(problem, {{1, 3, 1}, {2, 2, 1}});
  });
}

TEST(RankInverse, IsThatOfOneRankWhereItIsNearToTheOperator) {
  const ThreadCount one(1);
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
    expect_same_inverse<double>(problem, grids);
    expect_same_inverse<float>(problem, grids);
    // A number for a reaction beside a coefficient that varies, and an alpha that does.
    Problem robin = make_problem(options);
    robin.form.dirichlet = FaceSet(0b1);
    robin.form.robin = {{1, constant_field(2.0)}, {3, constant_field(0.7)}};
    robin.form.reaction = constant_field(3.0);
    expect_same_inverse<double>(robin, grids);
  }
}

TEST(RankInverse, TakesAnotherReaction) {
  const ThreadCount one(1);
  ProblemOptions options;
  options.cells = {2, 3, 4};
  options.geometry = Geometry::graded;
  options.coefficient = Coefficient::constant;
  options.boundary = Boundary::dirichlet;
  Problem problem = make_problem(options);
  problem.form.reaction = constant_field(1.0);
  Problem other = make_problem(options);
  other.form.reaction = constant_field(40.0);
  run_on_threads(2, [&](const Communicator& ranks) {
    const BoxPartition partition(problem.discretization->mesh, {1, 1, 2});
    const RankProblem first(ranks, partition, problem);
    BilinearForm changed = first.form();
    changed.reaction = other.form.reaction;
    const auto updated = make_fast_diagonalization<double>(first.form());
    ASSERT_EQ(updated->update(changed), Updated::yes);
    const auto made = make_fast_diagonalization<double>(changed);
    const std::vector<double> r = random_values(problem.size(), 7);
    HostVector<double> z(first.layout());
    HostVector<double> w(first.layout());
    EXPECT_EQ(applied(*updated, first.taken<double>(r), z),
              applied(*made, first.taken<double>(r), w));
  });
}

// What is foreseen of memory is what is held.
TEST(RankInverse, HoldsWhatIsForeseen) {
  const ThreadCount one(1);
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
        const RankProblem mine(ranks, partition, problem);
        EXPECT_EQ(make_fast_diagonalization<double>(mine.form())->bytes(),
                  rank_fast_diagonalization_bytes(space.lattice, problem.form.dirichlet,
                                                  symmetry_of(problem.form), partition,
                                                  ranks.rank(), sizeof(double)));
      });
    }
  }
}

}  // namespace
}  // namespace tessera::testing
