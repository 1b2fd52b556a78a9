// These tests hold probes on ranks, which are threads, to those of one rank.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "postprocess/probes/point_location.hpp"
#include "postprocess/probes/probes.hpp"
#include "solvers/interruption.hpp"
#include "tests/postprocess/rank_cases.hpp"

namespace tessera::testing {
namespace {

constexpr Frame kFrame = {{10.0, -3.0, 0.5}, 4.0};

Discretization in_frame(Discretization space) {
  space.frame = kFrame;
  if (space.mesh.dimension() == 2) space.frame.origin[2] = 0.0;
  return space;
}

// The physical position of a place in a cell, by the definition of the map.
Point position(const Discretization& space, const IndexTriple& cell, const Point& xi) {
  const NodeLattice& lattice = space.lattice;
  const int n = lattice.degree() + 1;
  const Matrix1D l = lagrange_values(space.basis.nodes, xi);
  const Index first = lattice.first_node(cell);
  Point at{};
  for (int k = 0; k < (lattice.dimension() == 3 ? n : 1); ++k) {
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        Point node{};
        space.mapping.node_positions(first + lattice.offset(i, j, k), 1, &node[0], &node[1],
                                     &node[2]);
        const double weight = l(0, i) * l(1, j) * (lattice.dimension() == 3 ? l(2, k) : 1.0);
        for (int d = 0; d < 3; ++d) at[d] += weight * node[d];
      }
    }
  }
  return space.frame.physical(at);
}

// In every cell at random, near its faces and on them.
std::vector<Point> points_in(const Discretization& space) {
  std::vector<Point> points;
  const std::vector<double> random = random_values(3 * 4 * space.mesh.cell_count(), 9);
  auto next = random.begin();
  for (Index c = 0; c < space.mesh.cell_count(); ++c) {
    const IndexTriple cell = space.mesh.cell_position(c);
    for (const double shrink : {1.0, 1e-3, 1e-9, 0.0}) {
      Point xi{};
      for (int d = 0; d < 3; ++d) {
        const double t = *next++;
        // The first axis near a face, or on it.
        xi[d] = d == static_cast<int>(c % space.mesh.dimension()) && shrink < 1.0
                    ? (t < 0.0 ? -shrink * t : 1.0 - shrink * t)
                    : 0.5 + 0.5 * t;
      }
      points.push_back(position(space, cell, xi));
    }
  }
  return points;
}

class RankProbes : public OnRanks {
 protected:
  // Calls f(ranks, case, whole space, part's space), in physical coordinates and in a frame.
  template <class F>
  static void for_each_space(F&& f) {
    for_each_case([&](const Communicator& ranks, const RankCase& ours) {
      f(ranks, ours, ours.space(), ours.mine.discretization());
      f(ranks, ours, in_frame(ours.space()), in_frame(ours.mine.discretization()));
    });
  }
};

TEST_P(RankProbes, HaveTheValuesOfOneRank) {
  for_each_space([](const Communicator& ranks, const RankCase& ours, const Discretization& whole,
                    const Discretization& part) {
    const std::vector<double> u = random_values(ours.whole.size(), 4);
    const HostVector<double> mine = ours.mine.taken<double>(u);
    const std::vector<Point> points = points_in(whole);
    std::vector<double> expected(points.size());
    Probes(whole, points).evaluate(u, expected);
    const Probes probes(part, points, ranks);
    for (int turn = 0; turn < 2; ++turn) {
      std::vector<double> found(points.size(), std::nan(""));
      probes.evaluate(mine.span(), found);
      for (std::size_t i = 0; i < points.size(); ++i) {
        EXPECT_NEAR(found[i], expected[i], 1e-10) << i;
        for (const double other : ranks.all_gather(found[i])) EXPECT_EQ(other, found[i]) << i;
      }
    }
  });
}

TEST_P(RankProbes, HaveTheNodesValuesAtCorners) {
  for_each_case([](const Communicator& ranks, const RankCase& ours) {
    if (!ours.space().mapping.is_cartesian()) return;
    const std::vector<double> u = random_values(ours.whole.size(), 4);
    const HostVector<double> mine = ours.mine.taken<double>(u);
    const BoxMesh& mesh = ours.space().mesh;
    std::vector<Point> points;
    std::vector<double> expected;
    for (Index c = 0; c < mesh.cell_count(); ++c) {
      for (int corner = 0; corner < (1 << mesh.dimension()); ++corner) {
        const Index node = ours.space().lattice.corner_node(mesh.cell_position(c), corner);
        Point x{};
        ours.space().mapping.node_positions(node, 1, &x[0], &x[1], &x[2]);
        points.push_back(x);
        expected.push_back(u[static_cast<std::size_t>(node)]);
      }
    }
    std::vector<double> found(points.size());
    Probes(ours.mine.discretization(), points, ranks).evaluate(mine.span(), found);
    for (std::size_t i = 0; i < points.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-13) << i;
  });
}

TEST_P(RankProbes, SayWhichPointsAreInNoPart) {
  for_each_space([](const Communicator& ranks, const RankCase&, const Discretization& whole,
                    const Discretization& part) {
    std::vector<Point> points = points_in(whole);
    for (const std::size_t i : {std::size_t{0}, std::size_t{5}, points.size() - 1}) {
      points[i] = {1e3, 0.0, 0.0};
    }
    points[2][1] = std::nan("");
    const auto refusal = [&](const Discretization& space, const Communicator& all) {
      try {
        const Probes probes(space, points, all);
      } catch (const PointsOutside& error) {
        return std::pair{error.points(), std::string(error.what())};
      }
      return std::pair{std::vector<Index>(), std::string()};
    };
    const auto expected = refusal(whole, single_rank());
    ASSERT_EQ(expected.first.size(), 4u);
    const auto found = refusal(part, ranks);
    EXPECT_EQ(found.first, expected.first);
    EXPECT_EQ(found.second, expected.second);
  });
}

INSTANTIATE_TEST_SUITE_P(Grids, RankProbes, ::testing::ValuesIn(rank_grids()), grid_name);

// A point that is a little outside a curved face between parts is inside the other part, and is
// asked for there; one outside the whole is where it is nearest.
TEST(RankProbesOfCurvedCells, AreInThePartWhereThePointIs) {
  ProblemOptions options;
  options.dimension = 2;
  options.cells = {4, 2, 1};
  options.degree = 1;
  run_on_threads(2, [&](const Communicator& ranks) {
    const RankCase ours(ranks, {2, 1, 1}, options);
    const Discretization& whole = ours.space();
    std::vector<Point> points;
    for (Index row = 0; row < 2; ++row) {
      for (const double y : {0.1, 0.5, 0.9}) {
        points.push_back(position(whole, {2, row, 0}, {0.01, y, 0.0}));
        // Outside by less than the tolerance for curved boundaries.
        points.push_back(position(whole, {0, row, 0}, {-0.01, y, 0.0}));
        points.push_back(position(whole, {3, row, 0}, {1.01, y, 0.0}));
      }
    }
    const std::vector<double> u = random_values(ours.whole.size(), 4);
    const HostVector<double> mine = ours.mine.taken<double>(u);
    // Rank 0 alone would take the first of them for its own.
    PointLocator::Scratch scratch;
    if (ranks.rank() == 0) {
      EXPECT_TRUE(PointLocator(ours.mine.discretization()).find(points[0], scratch));
    }
    std::vector<double> expected(points.size());
    Probes(whole, points).evaluate(u, expected);
    std::vector<double> found(points.size());
    Probes(ours.mine.discretization(), points, ranks).evaluate(mine.span(), found);
    for (std::size_t i = 0; i < points.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-12) << i;
  });
}

TEST(RankProbesOfManyPoints, AreGatheredInParts) {
  ProblemOptions options;
  options.dimension = 2;
  options.cells = {3, 2, 1};
  options.degree = 1;
  options.geometry = Geometry::cartesian;
  run_on_threads(3, [&](const Communicator& ranks) {
    const RankCase ours(ranks, {3, 1, 1}, options);
    const std::vector<Point> few = points_in(ours.space());
    std::vector<Point> points;
    while (points.size() < 140'000) points.insert(points.end(), few.begin(), few.end());
    const HostVector<double> mine = ours.mine.taken<double>(random_values(ours.whole.size(), 4));
    std::vector<double> found(points.size());
    Probes(ours.mine.discretization(), points, ranks).evaluate(mine.span(), found);
    for (std::size_t i = few.size(); i < points.size(); ++i) {
      ASSERT_EQ(found[i], found[i - few.size()]);
    }
  });
}

}  // namespace
}  // namespace tessera::testing
