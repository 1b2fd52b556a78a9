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

template <class T>
void expect_own_places_of_pairs(int points) {
  const int cells = line_shape_row<T>(points, kLineSweep<T>).cells;
  const LineStrides pairs = pair_strides<T>(points);
  expect_own_places(pairs, cells, points, cells * pairs.cell_step);
}

template <class T>
void expect_own_places_in_the_points(int points) {
  const int cells = line_shape_row<T>(points, LineSweep::in_points).cells;
  const LineStrides tensor = point_strides<T>(points);
  std::set<int> all;
  for (int t = 0; t < 3; ++t) {
    for (const int place : places(tensor, cells, points)) {
      all.insert(place + t * (tensor.cell_step / 3));
    }
  }
  EXPECT_EQ(static_cast<int>(all.size()), 3 * cells * points * points * points);
  EXPECT_LT(*all.rbegin(), cells * tensor.cell_step);
}

TEST(LineShapes, EntriesOfTheCellsOfAGroupHaveTheirOwnPlaces) {
  for (int points = 2; points <= kMaxPoints; ++points) {
    SCOPED_TRACE(::testing::Message() << points << " points");
    ASSERT_TRUE(has_line_shape(points));
    expect_own_places_of_pairs<double>(points);
    expect_own_places_of_pairs<float>(points);
    const int cells = line_shape_row<double>(points, LineSweep::side_by_side).cells;
    const LineStrides singles = kDoubleValues[points - 2];
    expect_own_places(singles, cells, points, cells * singles.cell_step);
    expect_own_places_in_the_points<float>(points);
    if (points >= kMinDoublePoints) expect_own_places_in_the_points<double>(points);
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
