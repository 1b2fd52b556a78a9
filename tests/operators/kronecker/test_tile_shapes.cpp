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

TEST(TileShapes, AreWideWhereEachMultiprocessorHasATile) {
  constexpr int kMultiprocessors = 132;
  // Five tiles a row: 23 rows of them are 115, 24 are 120.
  EXPECT_FALSE(fill_wide_tiles(kTile, 160, 23 * 4, kMultiprocessors));
  EXPECT_TRUE(fill_wide_tiles(kTile, 160, 23 * 4 + 1, kMultiprocessors));
  EXPECT_TRUE(fill_wide_tiles(kTile, 160, 1000, kMultiprocessors));
  EXPECT_FALSE(fill_wide_tiles(kTile, 160, 1, kMultiprocessors));
}

TEST(TileShapes, AreWideWhereTheyAreNearlyFull) {
  constexpr int kMultiprocessors = 132;
  EXPECT_FALSE(fill_wide_tiles(kTile, 1, 10000, kMultiprocessors));
  EXPECT_FALSE(fill_wide_tiles(kTile, 27, 10000, kMultiprocessors));
  EXPECT_TRUE(fill_wide_tiles(kTile, 28, 10000, kMultiprocessors));
  EXPECT_FALSE(fill_wide_tiles(kTile, 33, 10000, kMultiprocessors));
  EXPECT_TRUE(fill_wide_tiles(kTile, 55, 10000, kMultiprocessors));
}

TEST(TileShapes, OfLargeMeshesAreForDegreesIn3d) {
  for (int p = 1; p <= 8; ++p) {
    for (const std::size_t bytes : {sizeof(double), sizeof(float)}) {
      EXPECT_FALSE(has_wide_kronecker_tile(2, p, bytes));
      if (!has_wide_kronecker_tile(3, p, bytes)) continue;
      EXPECT_GT(wide_kronecker_tile(p, bytes).cells_x * wide_kronecker_tile(p, bytes).cells_y,
                kronecker_tile(3, p, bytes).cells_x * kronecker_tile(3, p, bytes).cells_y);
    }
  }
}

}  // namespace
}  // namespace tessera::testing
