// These tests hold what rank 0 gathers and draws to what one rank has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "postprocess/ranks/rank_painter.hpp"
#include "postprocess/ranks/whole_solution.hpp"
#include "tests/postprocess/rank_cases.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <class Values>
bool same_values(const Values& a, const Values& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

void expect_same_space(const Discretization& found, const Discretization& expected) {
  EXPECT_EQ(found.lattice.extents(), expected.lattice.extents());
  EXPECT_EQ(found.basis.nodes, expected.basis.nodes);
  EXPECT_EQ(found.frame.origin, expected.frame.origin);
  EXPECT_EQ(found.frame.length, expected.frame.length);
  ASSERT_EQ(found.mesh.cells(), expected.mesh.cells());
  for (int d = 0; d < expected.mesh.dimension(); ++d) {
    EXPECT_EQ(found.mesh.is_uniform(d), expected.mesh.is_uniform(d));
    for (Index i = 0; i <= expected.mesh.cells()[d]; ++i) {
      EXPECT_EQ(found.mesh.grid_line(d, i), expected.mesh.grid_line(d, i));
    }
  }
  ASSERT_EQ(found.mapping.is_cartesian(), expected.mapping.is_cartesian());
  for (int d = 0; d < expected.mesh.dimension(); ++d) {
    if (found.mapping.is_cartesian()) {
      EXPECT_EQ(found.mapping.line(d), expected.mapping.line(d));
    } else {
      EXPECT_TRUE(same_values(found.mapping.coordinate(d), expected.mapping.coordinate(d)));
    }
  }
}

class WholeSolution : public OnRanks {};

TEST_P(WholeSolution, HasTheBitsOfTheParts) {
  for_each_case([](const Communicator& ranks, const RankCase& ours) {
    const std::vector<double> u = random_values(ours.whole.size(), 5);
    const HostVector<double> mine = ours.mine.taken<double>(u);
    Discretization part = ours.mine.discretization();
    part.frame = {{1.0, 2.0, 0.0}, 4.0};
    Discretization whole = ours.space();
    whole.frame = part.frame;
    const auto space = gather_space(ours.mine.part(), part);
    const HostArray<double> values = gather_values(ours.mine.part(), mine.span());
    ASSERT_EQ(space.has_value(), ranks.rank() == 0);
    EXPECT_EQ(values.empty(), ranks.rank() != 0);
    if (ranks.rank() != 0) return;
    expect_same_space(*space, whole);
    EXPECT_TRUE(std::equal(u.begin(), u.end(), values.begin(), values.end()));
  });
}

INSTANTIATE_TEST_SUITE_P(Grids, WholeSolution, ::testing::ValuesIn(rank_grids()), grid_name);

TEST(WholeSolutionOfManyNodes, ComesInSeveralMessages) {
  const BoxMesh mesh(2, {611, 503, 1}, {0.0, 0.0, 0.0}, {1.0, 1.0, 0.0});
  const std::vector<double> u = random_values(NodeLattice(mesh, 1).size(), 5);
  run_on_threads(2, [&](const Communicator& ranks) {
    const RankPart part(ranks, BoxPartition(mesh, {2, 1, 1}), mesh, 1);
    std::vector<double> mine(static_cast<std::size_t>(part.nodes().lattice().size()));
    ASSERT_GT(mine.size(), std::size_t{1} << 17);
    part.nodes().copy_to_part(u.data(), mine.data());
    const HostArray<double> values = gather_values(part, mine);
    if (ranks.rank() == 0) {
      EXPECT_TRUE(std::equal(u.begin(), u.end(), values.begin(), values.end()));
    }
  });
}

class RankPicture : public OnRanks {};

TEST_P(RankPicture, IsThatOfOneRank) {
  constexpr PictureSize kSmall = {400, 300};
  const PictureText text = {"a title", "not converged", "Tessera"};
  run_on_threads(count(), [&](const Communicator& ranks) {
    for (const ProblemOptions& options : cases()) {
      if (options.geometry == Geometry::cartesian) continue;
      SCOPED_TRACE(describe(options));
      const RankCase ours(ranks, GetParam(), options);
      const std::vector<double> u = random_values(ours.whole.size(), 5);
      const HostVector<double> mine = ours.mine.taken<double>(u);
      RankPainter several(&ours.mine.part(), ours.mine.discretization(), kSmall);
      const SampledSolution sampled = several.sample(mine.span(), {kNan, kNan}, text);
      const auto [least, largest] = std::minmax_element(u.begin(), u.end());
      EXPECT_EQ(sampled.range, std::pair(*least, *largest));
      const SolutionPicture picture = several.draw(sampled, {-1.5, 2.0});
      EXPECT_EQ(picture.png.empty(), ranks.rank() != 0);
      if (ranks.rank() != 0) continue;
      SolutionPainter one(ours.space(), kSmall);
      const SolutionPicture expected = one.draw(one.sample(u, {kNan, kNan}, text), {-1.5, 2.0});
      EXPECT_TRUE(picture.png == expected.png);
      EXPECT_EQ(picture.complaint, expected.complaint);
      RankPainter alone(nullptr, ours.space(), kSmall);
      EXPECT_TRUE(alone.draw(alone.sample(u, {kNan, kNan}, text), {-1.5, 2.0}).png == expected.png);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Grids, RankPicture,
                         ::testing::Values(RankGrid{1, 1, 1}, RankGrid{2, 1, 1}, RankGrid{1, 2, 2},
                                           RankGrid{3, 2, 1}),
                         grid_name);

}  // namespace
}  // namespace tessera::testing
