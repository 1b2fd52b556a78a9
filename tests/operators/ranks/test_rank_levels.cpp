// These tests hold the levels of multigrid on ranks, which are threads, to those of one.
#include <gtest/gtest.h>

#include "operators/ranks/whole_widths.hpp"
#include "solvers/errors.hpp"
#include "solvers/ranks/thread_ranks.hpp"
#include "tests/operators/ranks/rank_multigrid.hpp"

namespace tessera::testing {
namespace {

class RankLevels : public ::testing::TestWithParam<int> {
 private:
  ThreadsInUse threads_{1};
};

// A cycle from every level, whichever is the first one that is gathered.
template <class C>
void check_cycles(const Shared& shared, const MultigridOptions& options) {
  const auto one = make_multigrid<C, Host>(shared.whole.form, options, nullptr);
  const auto result = [&](std::size_t l, const HostVector<C>& r) {
    HostVector<C> z(r.layout());
    one.cycle->cycle(l, r, z);
    return values_of(z);
  };
  run_on_threads(shared.rank_count(), [&](const Communicator& ranks) {
    const RankProblem mine(ranks, shared.partition, shared.whole);
    const auto several = make_multigrid<C, Host>(mine.form(), options, nullptr);
    ASSERT_EQ(several.levels.size(), one.levels.size());
    for (std::size_t l = 0; l < one.levels.size(); ++l) {
      HostVector<C> whole(one.cycle->level_operator(l).layout());
      HostVector<C> r(several.cycle->level_operator(l).layout());
      HostVector<C> z(r.layout());
      fill_random(whole);
      fill_random(r);
      several.cycle->cycle(l, r, z);
      std::vector<double> all(static_cast<std::size_t>(whole.size()));
      const auto& part = several.hierarchy->form(l).part;
      if (part != nullptr) {
        part->rank->nodes().copy_owned_to_whole(z.data(), all.data());
        ranks.sum(all);
      } else {
        all = values_of(z);
      }
      std::vector<double> expected = ranks.rank() == 0 ? result(l, whole) : all;
      ranks.broadcast(std::as_writable_bytes(std::span(expected)));
      EXPECT_LE(relative_difference(vector_of<double>(all), expected),
                sizeof(C) == sizeof(double) ? 1e-11 : 1e-4)
          << "level " << l;
    }
  });
}

TEST_P(RankLevels, HaveTheCyclesOfOneRank) {
  for (const Boundary boundary : {Boundary::mixed, Boundary::dirichlet}) {
    ProblemOptions options = options_for_ranks(GetParam());
    options.boundary = boundary;
    for (const IndexTriple& cells : {options.cells, IndexTriple{5, 7, GetParam() == 2 ? 1 : 6}}) {
      options.cells = cells;
      SCOPED_TRACE(describe(options));
      const Shared shared(options, GetParam() == 2 ? RankGrid{3, 2, 1} : RankGrid{3, 1, 2});
      check_cycles<double>(shared, options_of(40));
      check_cycles<float>(shared, options_of(40));
      MultigridOptions cells_first = options_of(kNeverGather);
      cells_first.rules.order = CoarseningOrder::cells_first;
      check_cycles<double>(shared, cells_first);
    }
  }
}

// Of other coefficients, with and without a state.
template <class C>
void check_update(const Shared& shared, Index gather_dofs) {
  const auto changed = [](BilinearForm form) {
    form.coefficient =
        field_of([](double x, double y, double z) { return 3.0 + std::sin(4.0 * x - y) + z; });
    form.reaction = constant_field(2.0);
    return form;
  };
  run_on_threads(shared.rank_count(), [&](const Communicator& ranks) {
    const RankProblem mine(ranks, shared.partition, shared.whole);
    const BilinearForm form = changed(mine.form());
    BilinearForm with_reaction = mine.form();
    with_reaction.reaction = constant_field(1.0);
    const auto updated = make_multigrid<C, Host>(with_reaction, options_of(gather_dofs), nullptr);
    EXPECT_EQ(updated.update(form), Updated::yes);
    const auto anew = make_multigrid<C, Host>(form, options_of(gather_dofs), nullptr);
    const HostVector<C> r = mine.taken<C>(shared.b);
    HostVector<C> z(mine.layout());
    HostVector<C> of_updated(mine.layout());
    anew.cycle->apply(r, z);
    updated.cycle->apply(r, of_updated);
    EXPECT_TRUE(mine.agrees(z));
    EXPECT_TRUE(same_bits(of_updated, z));
  });
}

TEST_P(RankLevels, AreUpdatedInPlace) {
  const Shared shared(options_for_ranks(GetParam()),
                      GetParam() == 2 ? RankGrid{1, 3, 1} : RankGrid{1, 1, 2});
  for (const Index gather_dofs : {kNeverGather, Index{60}, kAlwaysGather}) {
    check_update<double>(shared, gather_dofs);
  }
  check_update<float>(shared, 60);
}

INSTANTIATE_TEST_SUITE_P(Dimensions, RankLevels, ::testing::Values(2, 3),
                         [](const auto& tested) { return std::to_string(tested.param) + "d"; });

TEST(LevelsOnRanks, RefuseSmoothersByBlocks) {
  const Shared shared({.dimension = 2, .degree = 2, .cells = {6, 5, 1}}, {2, 1, 1});
  for (const SmootherKind smoother :
       {SmootherKind::block_jacobi, SmootherKind::block_asynchronous_jacobi}) {
    run_on_threads(2, [&](const Communicator& ranks) {
      const RankProblem mine(ranks, shared.partition, shared.whole);
      MultigridOptions options = options_of(0);
      options.smoother = smoother;
      EXPECT_THROW((void)(make_multigrid<double, Host>(mine.form(), options, nullptr)),
                   UnsuitableChoice);
    });
  }
}

// Policies by which threads add in any order are not taken where all ranks need the same bits.
TEST(LevelsOnRanks, AddInOrderOnGatheredLevels) {
  const Shared shared({.dimension = 2, .degree = 2, .cells = {8, 8, 1}}, {1, 2, 1});
  run_on_threads(2, [&](const Communicator& ranks) {
    const RankProblem mine(ranks, shared.partition, shared.whole);
    const Hierarchy hierarchy(mine.form(), options_of(0).rules, 100);
    ASSERT_FALSE(hierarchy.is_gathered(0));
    ASSERT_TRUE(hierarchy.is_gathered(hierarchy.size() - 1));
    EXPECT_EQ(level_scatter(hierarchy, 0, "atomic"), "atomic");
    EXPECT_EQ(level_scatter(hierarchy, hierarchy.size() - 1, "atomic"), "coloring");
    EXPECT_EQ(level_scatter(hierarchy, hierarchy.size() - 1, "private"), "coloring");
  });
}

// Of parts that cut coarser cells as well.
TEST(LevelsOnRanks, HaveGatheredLevelsAtThePlacesOfTheWhole) {
  const ThreadsInUse threads(1);
  for (const NodeFamily nodes : {NodeFamily::gauss_lobatto, NodeFamily::equidistant}) {
    for (const int degree : {1, 2, 3}) {
      for (const LevelShape& shape : {LevelShape{degree, {5, 4, 3}}, LevelShape{degree, {3, 2, 2}},
                                      LevelShape{1, {5, 2, 3}}}) {
        ProblemOptions options{.degree = degree, .cells = {5, 4, 3}, .nodes = nodes};
        options.boundary = Boundary::none;
        const Shared shared(options, {2, 1, 3});
        const Discretization& fine = *shared.whole.discretization;
        const Discretization expected = coarsen(fine, shape);
        run_on_threads(shared.rank_count(), [&](const Communicator& ranks) {
          const RankProblem mine(ranks, shared.partition, shared.whole);
          const GatheredSpace space(mine.discretization(), mine.part(), shape);
          const Discretization gathered = space.make();
          EXPECT_EQ(gathered.lattice.extents(), expected.lattice.extents());
          for (int d = 0; d < 3; ++d) {
            const HostVector<double> places = vector_of<double>(gathered.mapping.coordinate(d));
            const HostArray<double>& at = expected.mapping.coordinate(d);
            EXPECT_LE(relative_difference(places, {at.begin(), at.end()}), 1e-15)
                << degree << " to " << shape.degree;
          }
        });
      }
    }
  }
}

TEST(LevelsOnRanks, HaveTheWidthsOfTheWhole) {
  for (const Geometry geometry : {Geometry::cartesian, Geometry::graded, Geometry::curved}) {
    for (const int dimension : {2, 3}) {
      ProblemOptions options = options_for_ranks(dimension);
      options.cells = dimension == 2 ? IndexTriple{11, 19, 1} : IndexTriple{3, 4, 10};
      options.geometry = geometry;
      const Shared shared(options, dimension == 2 ? RankGrid{3, 2, 1} : RankGrid{1, 2, 2});
      const Point expected = mean_cell_widths(*shared.whole.discretization);
      run_on_threads(shared.rank_count(), [&](const Communicator& ranks) {
        const RankProblem mine(ranks, shared.partition, shared.whole);
        EXPECT_EQ(mean_cell_widths(mine.discretization(), mine.part()), expected);
      });
    }
  }
}

}  // namespace
}  // namespace tessera::testing
