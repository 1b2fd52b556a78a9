// These tests look at the tiles of the GPU's Kronecker kernels: how a row of cells is shared out,
// and which meshes have wide ones.
#include <gtest/gtest.h>

#include "operators/kronecker/tiles/shapes.hpp"

namespace tessera::testing {
namespace {

constexpr TileShape kTile{32, 4, 2, 2, 1, 608, 1, RowCut::even_tiles};

TEST(TileShapes, ShareTheCellsOfARowOut) {
  for (const int work : {1, 2, 4}) {
    TileShape tile = kTile;
    tile.work_x = work;
    for (int cells = 1; cells <= 200; ++cells) {
      SCOPED_TRACE(cells);
      const int of_tile = tile_cells_x(tile, cells);
      EXPECT_EQ(of_tile % work, 0);
      EXPECT_LE(of_tile, tile.cells_x);
      // As many tiles as with the most cells, and with fewer cells a tile there would be more.
      const Index tiles = ceil_div(cells, tile.cells_x);
      EXPECT_EQ(ceil_div(cells, of_tile), tiles);
      EXPECT_LT((of_tile - work) * tiles, cells);
    }
  }
}

TEST(TileShapes, AreFullOtherwise) {
  TileShape tile = kTile;
  tile.row_cut = RowCut::full_tiles;
  for (const int cells : {1, 33, 64}) EXPECT_EQ(tile_cells_x(tile, cells), 32);
}

constexpr int kMultiprocessors = 132;

bool suits(const TileShape& tile, int p, Index cells_x, Index cells_y) {
  return suits_wide_tiles(tile, p, cells_x, cells_y, kMultiprocessors);
}

TEST(TileShapes, AreWideWhereEachMultiprocessorHasATile) {
  // Five tiles a row: 23 rows of them are 115, 24 are 120.
  EXPECT_FALSE(suits(kTile, 3, 160, 23 * 4));
  EXPECT_TRUE(suits(kTile, 3, 160, 23 * 4 + 1));
  EXPECT_TRUE(suits(kTile, 3, 160, 1000));
  EXPECT_FALSE(suits(kTile, 3, 160, 1));
}

TEST(TileShapes, AreWideWherePlanesAreLarge) {
  constexpr TileShape kLow{13, 1, 1, 1, 1, 512, 1, RowCut::even_tiles};
  // 840 nodes for each multiprocessor are 110880, of which a row of 52 cells has 312 by 6.
  EXPECT_FALSE(suits(kLow, 6, 52, 59));
  EXPECT_TRUE(suits(kLow, 6, 52, 60));
}

TEST(TileShapes, AreWideWhereTheyAreNearlyFull) {
  constexpr int kMany = 10000;
  EXPECT_FALSE(suits(kTile, 3, 1, kMany));
  EXPECT_FALSE(suits(kTile, 3, 26, kMany));
  EXPECT_TRUE(suits(kTile, 3, 27, kMany));
  EXPECT_FALSE(suits(kTile, 3, 33, kMany));
  EXPECT_TRUE(suits(kTile, 3, 54, kMany));
  // Along y as well.
  EXPECT_FALSE(suits(kTile, 3, kMany * 32, 1));
  EXPECT_FALSE(suits(kTile, 3, kMany * 32, 5));
  EXPECT_TRUE(suits(kTile, 3, kMany * 32, 7));
}

TEST(TileShapes, OfLargeMeshesAreForDegreesIn3d) {
  for (int p = 1; p <= 8; ++p) {
    for (const std::size_t bytes : {sizeof(double), sizeof(float)}) {
      EXPECT_FALSE(has_wide_kronecker_tile(2, p, bytes));
      EXPECT_TRUE(!has_wide_kronecker_tile(3, p, bytes) ||
                  has_wide_kronecker_tile(3, p, bytes, TileUse::step));
      if (!has_wide_kronecker_tile(3, p, bytes)) continue;
      // So that the room for sums, one pair a block, is enough for them.
      const TileShape wide = wide_kronecker_tile(p, bytes);
      EXPECT_GT(wide.cells_x, kronecker_tile(3, p, bytes).cells_x);
      EXPECT_GE(wide.cells_y, kronecker_tile(3, p, bytes).cells_y);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
