// These tests load rows of cells into lanes and add them back.
#include <gtest/gtest.h>

#include <vector>

#include "mesh/lanes/lane_rows.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

// Values that are all different, one more on either side of the row that nobody may touch.
template <class T, int p>
void expect_row() {
  SCOPED_TRACE(::testing::Message() << "p = " << p << ", " << kLanes<T> << " lanes");
  constexpr int kLength = p * kLanes<T> + 1;
  std::vector<T> row(kLength + 2);
  for (int i = 0; i < kLength + 2; ++i) row[i] = static_cast<T>(i + 1);
  Lanes<T> u[p + 1];
  load_cell_row<p>(row.data() + 1, u);
  for (int i = 0; i <= p; ++i) {
    for (int lane = 0; lane < kLanes<T>; ++lane) EXPECT_EQ(u[i][lane], row[1 + p * lane + i]);
  }

  std::vector<T> expected = row;
  Lanes<T> v[p + 1];
  for (int i = 0; i <= p; ++i) {
    for (int lane = 0; lane < kLanes<T>; ++lane) {
      v[i][lane] = static_cast<T>(1000 * i + lane);
      expected[1 + p * lane + i] += v[i][lane];
    }
  }
  add_cell_row<p>(v, row.data() + 1);
  EXPECT_EQ(row, expected);
}

template <class T>
void expect_rows() {
  expect_row<T, 1>();
  expect_row<T, 2>();
  expect_row<T, 3>();
  expect_row<T, 4>();
  expect_row<T, 5>();
  expect_row<T, 6>();
  expect_row<T, 7>();
  expect_row<T, 8>();
  expect_row<T, 17>();
}

TEST(CellRow, IsSortedByLanesAndBackInDouble) { expect_rows<double>(); }
TEST(CellRow, IsSortedByLanesAndBackInFloat) { expect_rows<float>(); }

}  // namespace
}  // namespace tessera::testing
