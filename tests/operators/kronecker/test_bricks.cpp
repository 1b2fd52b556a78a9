// These tests look at how resident conjugate gradients cut a mesh into bricks.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "operators/kronecker/resident/bricks.hpp"

namespace tessera::testing {
namespace {

constexpr ResidentRoom kLargeGpu{132, 28900};

// The largest brick's nodes along an axis, counted brick by brick.
int most_nodes(int cells, int bricks, int p) {
  int most = 0;
  for (int b = 0; b < bricks; ++b) {
    const int begin = first_cell_of_brick(cells, bricks, b);
    const int end = first_cell_of_brick(cells, bricks, b + 1);
    EXPECT_LT(begin, end);
    most = std::max(most, (end - begin) * p + 1);
  }
  EXPECT_EQ(first_cell_of_brick(cells, bricks, bricks), cells);
  return most;
}

TEST(BrickCut, FitsTheGpu) {
  for (int p = 1; p <= 8; ++p) {
    for (const BrickAxes& cells : {BrickAxes{1, 1, 1}, BrickAxes{5, 3, 2}, BrickAxes{40, 1, 7},
                                   BrickAxes{96 / p, 80 / p, 100 / p},
                                   BrickAxes{600 / p, 0, 500 / p}, BrickAxes{3, 0, 4000}}) {
      SCOPED_TRACE(::testing::Message() << "p = " << p << ", " << cells[0] << " x " << cells[1]
                                        << " x " << cells[2] << " cells");
      const std::optional<BrickCut> cut = best_brick_cut(cells, p, kLargeGpu);
      ASSERT_TRUE(cut);
      EXPECT_LE(cut->count(), kLargeGpu.blocks);
      EXPECT_LE(cut->shared_values(p), kLargeGpu.shared_values);
      EXPECT_LE(cut->size(), kMaxNodesOfThread * kResidentThreads);
      EXPECT_LE(cut->shared_nodes(), kMaxSharedNodesOfThread * kResidentThreads);
      EXPECT_EQ(cut->row() % 2, 1);
      for (int d = 0; d < 3; ++d) {
        const int most = cells[d] == 0 ? 1 : most_nodes(cells[d], cut->bricks[d], p);
        EXPECT_EQ(cut->nodes[d], most) << "axis " << d;
      }
    }
  }
}

TEST(BrickCut, CountsTheNodesThatBricksShare) {
  BrickCut cut;
  cut.nodes = {5, 4, 3};
  EXPECT_EQ(cut.shared_nodes(), 0);
  cut.bricks = {2, 1, 1};
  EXPECT_EQ(cut.shared_nodes(), 4 * 3);
  cut.bricks = {3, 1, 1};
  EXPECT_EQ(cut.shared_nodes(), 2 * 4 * 3);
  cut.bricks = {3, 3, 3};
  EXPECT_EQ(cut.shared_nodes(), 5 * 4 * 3 - 3 * 2 * 1);
}

TEST(BrickCut, CountsWhatTheGpuHolds) {
  BrickCut cut;
  cut.bricks = {1, 1, 2};
  cut.nodes = {3, 1, 3};
  EXPECT_EQ(cut.max_face(), 3);
  EXPECT_EQ(cut.side_by_side({2, 0, 4}, 1), 3 * 1 * 6);
  // Steps, faces and sums, and nodes of all bricks; lists of shared nodes and their counts.
  EXPECT_EQ(cut.bytes({2, 0, 4}, 1), 8 * (2 * (9 + 6 * 3 + 2) + 18) +
                                         2 * (4 * cut.shared_nodes() + 8 * cut.edge_nodes() + 8));
}

// 25 cells of degree 4 along each axis are 1.03 million nodes: 125 bricks of 5 x 5 x 5 cells.
TEST(BrickCut, IsEvenWhereThatIsPossible) {
  const std::optional<BrickCut> cut = best_brick_cut({25, 25, 25}, 4, kLargeGpu);
  ASSERT_TRUE(cut);
  EXPECT_EQ(cut->bricks, (BrickAxes{5, 5, 5}));
  EXPECT_EQ(cut->size(), 21 * 21 * 21);
}

// About a million nodes of higher degrees just fit.
TEST(BrickCut, FitsTheMeasuredGpus) {
  const std::optional<BrickCut> fifth = best_brick_cut({20, 20, 20}, 5, kMeasuredGpu);
  ASSERT_TRUE(fifth);
  EXPECT_EQ(fifth->bricks, (BrickAxes{5, 5, 5}));
  const std::optional<BrickCut> eighth = best_brick_cut({12, 12, 12}, 8, kMeasuredGpu);
  ASSERT_TRUE(eighth);
  EXPECT_EQ(eighth->bricks, (BrickAxes{6, 6, 3}));
}

// Four cells along the outer axis are one more than bricks have room for along 13 cells.
TEST(TurnedCut, IsTurnedWhereNoneFitsAsTheMeshIs) {
  const BrickAxes cells = {12, 12, 13};
  EXPECT_FALSE(best_brick_cut(cells, 8, kMeasuredGpu));
  const std::optional<TurnedCut> turned = best_turned_cut(cells, 8, kMeasuredGpu);
  ASSERT_TRUE(turned);
  EXPECT_NE(turned->order[2], 2);
  EXPECT_LE(turned->cut.count(), kMeasuredGpu.blocks);
  EXPECT_LE(turned->cut.shared_values(8), kMeasuredGpu.shared_values);
  for (int d = 0; d < 3; ++d) {
    EXPECT_EQ(turned->cut.nodes[d], most_nodes(cells[turned->order[d]], turned->cut.bricks[d], 8));
  }
  const std::optional<TurnedCut> cube = best_turned_cut({25, 25, 25}, 4, kMeasuredGpu);
  ASSERT_TRUE(cube);
  EXPECT_EQ(cube->order, (BrickAxes{0, 1, 2}));
  EXPECT_EQ(cube->cut.bricks, (BrickAxes{5, 5, 5}));
  EXPECT_FALSE(best_turned_cut({100, 100, 100}, 2, kMeasuredGpu));
}

// In 2D the axis without cells stays in the middle.
TEST(TurnedCut, KeepsTheMiddleAxisIn2d) {
  for (int p = 1; p <= 8; ++p) {
    for (int x = 100; x <= 1200; x += 100) {
      const std::optional<TurnedCut> turned = best_turned_cut({x, 0, 1000 / p}, p, kMeasuredGpu);
      if (!turned) continue;
      EXPECT_EQ(turned->order[1], 1);
    }
  }
}

TEST(BrickCut, IsNothingWhereNoneFits) {
  EXPECT_FALSE(best_brick_cut({100, 100, 100}, 2, kLargeGpu));
  EXPECT_FALSE(best_brick_cut({25, 25, 25}, 4, {132, 5000}));
  EXPECT_FALSE(best_brick_cut({25, 25, 25}, 4, {60, 28900}));
  EXPECT_FALSE(best_brick_cut({4000, 0, 4000}, 1, kLargeGpu));
  EXPECT_FALSE(best_brick_cut({1 << 24, 1 << 24, 1 << 24}, 8, kLargeGpu));
}

}  // namespace
}  // namespace tessera::testing
