// These tests hold operators, load vectors and sums on ranks, which are threads, to those of one
// rank.
#include <gtest/gtest.h>

#include <tuple>

#include "solvers/ranks/thread_ranks.hpp"
#include "tests/everywhere.hpp"
#include "tests/operators/ranks/rank_checks.hpp"

namespace tessera::testing {
namespace {

// Parts of one cell and of several, next to each other.
ProblemOptions options_for(const RankGrid& grid, int dimension, int degree) {
  ProblemOptions options;
  options.dimension = dimension;
  options.degree = degree;
  options.cells = {grid[0] + 1, grid[1] + (grid[1] > 1 ? 1 : 2), grid[2] + (grid[2] == 2 ? 1 : 0)};
  return options;
}

// On the GPU all ranks share one.
class RanksOfGrid : public EveryProcessorTest<std::tuple<Processor, RankGrid>> {
 protected:
  static RankGrid grid() { return std::get<RankGrid>(GetParam()); }
  static int count() { return grid()[0] * grid()[1] * grid()[2]; }
  static int dimension() { return grid()[2] > 1 ? 3 : 2; }
  // Calls f(communicator, options) on ranks for every form on a mesh of the dimension.
  template <class F>
  static void on_every_form(int dimension, F&& f) {
    run_on_threads(count(), [&](const Communicator& ranks) {
      int degree = 0;
      for (const ProblemOptions& options : with_every_form(options_for(grid(), dimension, 1))) {
        ProblemOptions of_degree = options;
        of_degree.degree = 1 + degree++ % 3;
        f(ranks, of_degree);
      }
    });
  }
};

TEST_P(RanksOfGrid, ApplyEveryStrategyAsOneRank) {
  on_every_form(dimension(), [](const Communicator& ranks, const ProblemOptions& options) {
    in_space_of_processor(
        [&]<class Space>() { check_operators<double, Space>(ranks, grid(), options); });
  });
}

TEST_P(RanksOfGrid, ApplySeparableAndReactiveFormsAsOneRank) {
  in_space_of_processor([&]<class Space>() {
    run_on_threads(count(), [&](const Communicator& ranks) {
      ProblemOptions options = options_for(grid(), dimension(), 2);
      options.reaction = Reaction::variable;
      check_operators<double, Space>(ranks, grid(), options);
      options.geometry = Geometry::graded;
      options.coefficient = Coefficient::separable;
      options.reaction = Reaction::constant;
      check_operators<double, Space>(ranks, grid(), options);
      check_operators<float, Space>(ranks, grid(), options);
      options.geometry = Geometry::curved;
      options.nodes = NodeFamily::equidistant;
      options.points = 4;
      check_operators<float, Space>(ranks, grid(), options);
    });
  });
}

TEST_P(RanksOfGrid, MakeTheLoadOfOneRank) {
  if (processor() == Processor::gpu) GTEST_SKIP() << "ranks make their loads on the host";
  on_every_form(dimension(), [](const Communicator& ranks, const ProblemOptions& options) {
    check_load(ranks, grid(), options);
  });
}

TEST_P(RanksOfGrid, SumEachEntryOnce) {
  on_every_form(dimension(), [](const Communicator& ranks, const ProblemOptions& options) {
    in_space_of_processor([&]<class Space>() { check_sums<Space>(ranks, grid(), options); });
  });
}

std::string name_of_grid(const ::testing::TestParamInfo<RanksOfGrid::ParamType>& info) {
  const auto& [processor, grid] = info.param;
  return std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" + std::to_string(grid[2]) +
         place_name(processor);
}

INSTANTIATE_TEST_SUITE_P(
    Grids, RanksOfGrid,
    ::testing::Combine(::testing::ValuesIn(every_processor()),
                       ::testing::Values(RankGrid{1, 1, 1}, RankGrid{2, 1, 1}, RankGrid{1, 3, 1},
                                         RankGrid{2, 2, 1}, RankGrid{1, 1, 2}, RankGrid{1, 1, 3},
                                         RankGrid{2, 1, 2}, RankGrid{1, 2, 3}, RankGrid{2, 2, 2})),
    name_of_grid);

// A node that four ranks share has each contribution once, in 3D one that eight do.
TEST(PlaneExchanges, CountSharersAtEdgesAndCorners) {
  const Problem whole = make_problem({.cells = {4, 4, 4}, .boundary = Boundary::none});
  run_on_threads(8, [&](const Communicator& ranks) {
    const RankProblem mine(ranks, BoxPartition(whole.discretization->mesh, {2, 2, 2}), whole);
    HostVector<float> ones(mine.layout());
    fill(ones, 1.0F);
    mine.part().exchange<float>({}).add(ones);
    const std::vector<double> counts = mine.gathered(ones);
    EXPECT_TRUE(mine.agrees(ones));
    const NodeLattice& lattice = whole.discretization->lattice;
    for (Index node = 0; node < lattice.size(); ++node) {
      double sharers = 1.0;
      for (const Index place : lattice.node_position(node)) sharers *= place == 4 ? 2.0 : 1.0;
      EXPECT_EQ(counts[node], sharers) << "node " << node;
    }
  });
}

TEST(RankParts, TakeTheStateOfAForm) {
  Problem whole = make_problem({.cells = {3, 2, 4}});
  const std::vector<double> values = random_values(whole.size(), 9);
  whole.form.state =
      std::make_shared<const HostState>(HostArray<double>(values.begin(), values.end()));
  run_on_threads(2, [&](const Communicator& ranks) {
    const RankProblem mine(ranks, BoxPartition(whole.discretization->mesh, {1, 1, 2}), whole);
    ASSERT_NE(mine.form().state, nullptr);
    const FormState& state = *mine.form().state;
    EXPECT_TRUE(same_bits(vector_of<double>({state.data(), state.data() + state.size()}),
                          mine.taken<double>(values)));
  });
}

}  // namespace
}  // namespace tessera::testing
