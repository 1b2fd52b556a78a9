#include <gtest/gtest.h>

#include <set>

#include "operators/tensor/compressed/layout.hpp"
#include "operators/tensor/sweeps/line_shapes.hpp"

namespace tessera {
namespace {

constexpr int kMaxPoints = 10;

// The places of all entries of so many cells.
std::multiset<int> places(const LineStrides& strides, int cells, int points) {
  std::multiset<int> all;
  for (int c = 0; c < cells; ++c) {
    for (int z = 0; z < points; ++z) {
      for (int y = 0; y < points; ++y) {
        for (int x = 0; x < points; ++x) {
          all.insert(x + y * strides.y_step + z * strides.z_step + c * strides.cell_step);
        }
      }
    }
  }
  return all;
}

void expect_own_places(const LineStrides& strides, int cells, int points, int values) {
  const std::multiset<int> all = places(strides, cells, points);
  EXPECT_EQ(std::set<int>(all.begin(), all.end()).size(), all.size());
  EXPECT_LT(*all.rbegin(), values);
}

TEST(LineShapes, EntriesOfTheCellsOfAGroupHaveTheirOwnPlaces) {
  for (int points = 2; points <= kMaxPoints; ++points) {
    SCOPED_TRACE(::testing::Message() << points << " points");
    ASSERT_TRUE(has_line_shape(points));
    const int cells = line_shape_row<double>(points).cells;
    const LineStrides pairs = pair_strides<double>(points);
    const LineStrides singles = kDoubleValues[points - 2];
    expect_own_places(pairs, cells, points, cells * pairs.cell_step);
    expect_own_places(singles, cells, points, cells * singles.cell_step);

    const int single_cells = line_shape_row<float>(points).cells;
    const LineStrides single_pairs = pair_strides<float>(points);
    expect_own_places(single_pairs, single_cells, points, single_cells * single_pairs.cell_step);
    const LineStrides in_points = kPoints[points - 2];
    expect_own_places(in_points, 1, points, points * in_points.z_step);
    EXPECT_LE(3 * points * in_points.z_step, in_points.cell_step);
  }
  EXPECT_FALSE(has_line_shape(kMaxPoints + 1));
}

// Of any group of cells, also where a kernel has no lines of so many points.
TEST(CompressedLayout, PointsOfTheCellsOfAGroupHaveTheirOwnPlaces) {
  for (const Index value_bytes : {4, 8}) {
    for (int degree = 1; degree <= 8; ++degree) {
      for (int points = degree + 1; points <= degree + 3; ++points) {
        SCOPED_TRACE(::testing::Message() << "p = " << degree << ", " << points << " points, "
                                          << value_bytes << " bytes");
        const CompressedLayout layout = compressed_layout(degree, points, value_bytes);
        std::set<int> all;
        for (int c = 0; c < layout.cells; ++c) {
          for (int z = 0; z < points; ++z) {
            for (int y = 0; y < points; ++y) {
              for (int x = 0; x < points; ++x) all.insert(layout.position(c, x, y, z));
            }
          }
        }
        EXPECT_EQ(static_cast<int>(all.size()), layout.cells * points * points * points);
        EXPECT_EQ(*all.begin(), 0);
        EXPECT_EQ(*all.rbegin() + 1, layout.lanes() * layout.steps());
      }
    }
  }
}

}  // namespace
}  // namespace tessera
