// These tests hold places of rows and tiles to the matrices that they are of.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "operators/multigrid/lattice_tiles.hpp"
#include "operators/multigrid/lattice_transfer.hpp"
#include "tests/operators/multigrid/transfer_pairs.hpp"

namespace tessera::testing {
namespace {

constexpr int kAny = std::numeric_limits<int>::max();

// Factors of transfers and their transposes, some with rows that have no entries.
std::vector<AxisMatrix> matrices() {
  std::vector<AxisMatrix> all;
  for (const Pair& pair : pairs(3)) {
    for (const FaceSet dirichlet : {FaceSet{}, FaceSet{0b111111}}) {
      for (const AxisSweep& sweep : make_prolongation(pair.coarse, pair.fine, dirichlet).sweeps) {
        all.push_back(sweep.matrix);
        all.push_back(transpose(sweep.matrix));
      }
    }
  }
  return all;
}

// Whether all entries of a row that are not 0 lie in columns [begin, begin + width).
bool has_entries_within(const AxisMatrix& matrix, Index row, Index begin, int width) {
  for (int k = 0; k < matrix.width; ++k) {
    const Index column = matrix.first[row] + k;
    const bool is_within = begin <= column && column < begin + width;
    if (!is_within && matrix.entries[row * matrix.width + k] != 0.0) return false;
  }
  return true;
}

TEST(PlacesOfRows, DoNotDecreaseAndReachAllEntries) {
  for (const AxisMatrix& matrix : matrices()) {
    const Places first = first_columns(matrix);
    const Places ends = end_columns(matrix);
    ASSERT_EQ(first.of_rows.size(), static_cast<std::size_t>(matrix.rows));
    ASSERT_EQ(ends.of_rows.size(), static_cast<std::size_t>(matrix.rows));
    EXPECT_TRUE(std::is_sorted(first.of_rows.begin(), first.of_rows.end()));
    EXPECT_TRUE(std::is_sorted(ends.of_rows.begin(), ends.of_rows.end()));
    EXPECT_LE(first.width, matrix.width + matrix.width / 2);
    for (Index r = 0; r < matrix.rows; ++r) {
      EXPECT_TRUE(has_entries_within(matrix, r, first.of_rows[r], first.width));
      EXPECT_TRUE(has_entries_within(matrix, r, ends.of_rows[r] - ends.width, ends.width));
    }
  }
}

TEST(TilesOfRows, ReachAllEntriesOfTheirRowsWithinTheirSpan) {
  for (const AxisMatrix& matrix : matrices()) {
    const Places ends = end_columns(matrix);
    for (const int most : {1, 3, 8, 64}) {
      for (const int wider : {0, 2}) {
        Places first = first_columns(matrix);
        if (first.width + wider > matrix.columns) continue;
        first.width += wider;
        const TileRows tile = plan_tile(first, ends, most, kAny, 8);
        ASSERT_GE(tile.rows, 1);
        ASSERT_LE(tile.rows, most);
        move_into_tiles(matrix, ends, tile.rows, first);
        for (Index r = 0; r < matrix.rows; ++r) {
          const int place = first.of_rows[r];
          const int begin = first.of_rows[r - r % tile.rows];
          EXPECT_TRUE(has_entries_within(matrix, r, place, first.width));
          EXPECT_GE(place, begin);
          EXPECT_LE(place + first.width, std::min<Index>(matrix.columns, begin + tile.span));
        }
      }
    }
  }
}

TEST(TilesOfRows, AreNoneWhereARowDependsOnTooMuch) {
  const AxisMatrix wide = transpose(matrices().front());
  const Places first = first_columns(wide);
  EXPECT_EQ(plan_tile(first, end_columns(wide), 8, first.width - 1, 8).rows, 0);
}

TEST(StretchesOfRows, HaveTheRowsWithEntriesInThem) {
  for (const AxisMatrix& matrix : matrices()) {
    const Places first = first_columns(matrix);
    const int columns = static_cast<int>(matrix.columns);
    for (const int stretch : {1, 4, columns}) {
      const std::vector<int> rows = rows_of_columns(first, columns, stretch);
      ASSERT_EQ(rows.size(), 2 * static_cast<std::size_t>(ceil_div(columns, stretch)));
      for (std::size_t s = 0; 2 * s < rows.size(); ++s) {
        const int begin = static_cast<int>(s) * stretch;
        for (int r = 0; r < static_cast<int>(matrix.rows); ++r) {
          const bool is_in =
              first.of_rows[r] < begin + stretch && first.of_rows[r] + first.width > begin;
          EXPECT_EQ(is_in, rows[2 * s] <= r && r < rows[2 * s + 1]);
        }
      }
    }
  }
}

TEST(StretchesOfRows, FillTheProcessorAndNoMore) {
  // Many tiles go through all rows, and a single one is cut until margins outweigh it.
  EXPECT_EQ(stretch_of(100, 5, 10000, 100), 100);
  EXPECT_EQ(stretch_of(100, 5, 100, 100), 100);
  EXPECT_EQ(stretch_of(100, 5, 50, 100), 50);
  EXPECT_EQ(stretch_of(100, 5, 1, 1000), 1);
  EXPECT_EQ(stretch_of(1, 5, 1, 1000), 1);
}

}  // namespace
}  // namespace tessera::testing
