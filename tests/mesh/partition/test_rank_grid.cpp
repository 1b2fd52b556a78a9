// These tests look at the choice of a rank grid.
#include <gtest/gtest.h>

#include <stdexcept>

#include "mesh/partition/rank_grid.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

constexpr std::array<int, 3> kNoHalvings = {0, 0, 0};

template <class F>
std::string refusal_of(F&& f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "accepted";
}

// Where layers are as good as equal for all.
TEST(RankGrids, AreSlabsWithinOneHost) {
  for (const Index n : {24, 48, 96}) {
    for (int ranks = 1; ranks <= 8; ++ranks) {
      EXPECT_EQ(choose_rank_grid(general_box(3, {n, n, n}), 4, ranks, kNoHalvings, kWithinHost),
                (RankGrid{1, 1, ranks}))
          << n << " cells along each axis, " << ranks << " ranks";
      EXPECT_EQ(choose_rank_grid(general_box(2, {n, n, 1}), 4, ranks, kNoHalvings, kWithinHost),
                (RankGrid{1, ranks, 1}));
    }
  }
}

TEST(RankGrids, AreNearlyCubesOverANetwork) {
  const RankGrid grid =
      choose_rank_grid(general_box(3, {512, 512, 512}), 4, 512, kNoHalvings, kOverNetwork);
  EXPECT_GE(grid[0], 2);
  EXPECT_GE(grid[1], grid[0]);
  EXPECT_LE(grid[2], 32);
}

TEST(RankGrids, HaveTheLeastCostOfAllAndACellForEachRank) {
  std::mt19937 generator(3);
  int refused = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const auto number = [&](int most) { return std::uniform_int_distribution(1, most)(generator); };
    const int dimension = 2 + trial % 2;
    const BoxMesh mesh =
        general_box(dimension, {number(9), number(9), dimension == 3 ? number(9) : 1});
    const int ranks = number(24);
    const auto choose = [&] { return choose_rank_grid(mesh, 3, ranks, {1, 1, 1}, kOverNetwork); };
    const bool is_refused = refusal_of(choose) != "accepted";
    refused += is_refused ? 1 : 0;
    const RankGrid best = is_refused ? RankGrid{0, 0, 0} : choose();
    if (!is_refused) require_rank_count(best, ranks);
    for (int x = 1; x <= mesh.cells()[0]; ++x) {
      for (int y = 1; y <= mesh.cells()[1]; ++y) {
        for (int z = 1; z <= mesh.cells()[2]; ++z) {
          if (x * y * z != ranks) continue;
          ASSERT_FALSE(is_refused);
          EXPECT_LE(application_seconds(mesh, 3, best, {1, 1, 1}, kOverNetwork),
                    application_seconds(mesh, 3, {x, y, z}, {1, 1, 1}, kOverNetwork));
        }
      }
    }
  }
  EXPECT_GT(refused, 5);
  EXPECT_LT(refused, 80);
}

// Slabs of four H200 iterate as fast on 270 million DoFs still, by what they save for sums.
TEST(RankGrids, AreSlabsAsLongAsSumsCostMoreThanPlanes) {
  const auto four = [](Index n) {
    return choose_rank_grid(general_box(3, {n, n, n}), 4, 4, kNoHalvings, kWithinHost);
  };
  EXPECT_EQ(four(160), (RankGrid{1, 1, 4}));
  EXPECT_EQ(four(400), (RankGrid{1, 2, 2}));
}

// 9 layers for 8 ranks are 2 for one of them, so that slabs would take twice as long.
TEST(RankGrids, AreOtherThanSlabsWhereSlabsAreUneven) {
  EXPECT_EQ(choose_rank_grid(general_box(3, {96, 96, 9}), 4, 8, kNoHalvings, kWithinHost),
            (RankGrid{1, 8, 1}));
}

TEST(RankGrids, AreRefusedInWords) {
  EXPECT_EQ(refusal_of([] {
              (void)choose_rank_grid(general_box(3, {3, 2, 2}), 2, 5, kNoHalvings, kWithinHost);
            }),
            "5 processes cannot share 3 x 2 x 2 cells: no box of so many processes has a cell for "
            "each along every axis");
  EXPECT_EQ(refusal_of([] {
              require_rank_count({2, 2, 2}, 4);
            }),
            "a grid of 2 x 2 x 2 ranks is for 8 processes, not for 4");
  EXPECT_EQ(refusal_of([] {
              require_rank_count({2, 1, 1}, 1);
            }),
            "a grid of 2 x 1 x 1 ranks is for 2 processes, not for 1");
  EXPECT_EQ(refusal_of([] { require_rank_count({2, 1, 1}, 2); }), "accepted");
}

}  // namespace
}  // namespace tessera::testing
