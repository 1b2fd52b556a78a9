#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "mesh/box_mesh.hpp"
#include "tests/mesh/meshes.hpp"

namespace tessera::testing {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(BoxMeshes, NumberCellsXFastest) {
  for (const int dimension : {2, 3}) {
    const IndexTriple cells = {4, 3, dimension == 3 ? 5 : 1};
    const BoxMesh mesh = general_box(dimension, cells);
    EXPECT_EQ(mesh.cell_count(), cells[0] * cells[1] * cells[2]);
    Index number = 0;
    for (Index z = 0; z < cells[2]; ++z) {
      for (Index y = 0; y < cells[1]; ++y) {
        for (Index x = 0; x < cells[0]; ++x, ++number) {
          EXPECT_EQ(mesh.cell_index({x, y, z}), number);
          EXPECT_EQ(mesh.cell_position(number), (IndexTriple{x, y, z}));
        }
      }
    }
  }
}

TEST(BoxMeshes, GridLinesAreEquallySpacedAndExactAtTheEnds) {
  const BoxMesh mesh = general_box(3, {7, 3, 11});
  for (int d = 0; d < 3; ++d) {
    const Index n = mesh.cells()[d];
    EXPECT_EQ(mesh.grid_line(d, 0), mesh.lower()[d]);
    EXPECT_EQ(mesh.grid_line(d, n), mesh.upper()[d]);
    EXPECT_NEAR(static_cast<double>(n) * mesh.cell_width(d), mesh.upper()[d] - mesh.lower()[d],
                1e-15);
    for (Index i = 0; i < n; ++i) {
      EXPECT_NEAR(mesh.grid_line(d, i + 1) - mesh.grid_line(d, i), mesh.cell_width(d), 1e-15);
    }
  }
}

// lower + (upper - lower) is not upper: -0.7 + 0.8 = 0.10000000000000009.
TEST(BoxMeshes, EndWhereTheyShouldDespiteRounding) {
  const BoxMesh mesh(2, {3, 5, 1}, {-0.7, -0.7, 0}, {0.1, 0.1, 0});
  ASSERT_NE(-0.7 + (0.1 - -0.7), 0.1);
  EXPECT_EQ(mesh.grid_line(0, 3), 0.1);
  EXPECT_EQ(mesh.grid_line(1, 5), 0.1);
}

TEST(BoxMeshes, InTwoDimensionsHaveOneFlatLayer) {
  const BoxMesh mesh(2, {4, 3, 9}, {1, 2, 3}, {4, 5, 6});
  EXPECT_EQ(mesh.dimension(), 2);
  EXPECT_EQ(mesh.cells(), (IndexTriple{4, 3, 1}));
  EXPECT_EQ(mesh.lower(), (Point{1, 2, 0}));
  EXPECT_EQ(mesh.upper(), (Point{4, 5, 0}));
  EXPECT_EQ(mesh.cell_count(), 12);
}

TEST(BoxMeshErrors, WhatIsNotABoxIsRefused) {
  for (const int dimension : {0, 1, 4}) {
    EXPECT_THROW(BoxMesh(dimension, {1, 1, 1}, {0, 0, 0}, {1, 1, 1}), std::invalid_argument);
  }
  for (int d = 0; d < 3; ++d) {
    for (const Index cells : {0, -1}) {
      IndexTriple counts = {2, 2, 2};
      counts[d] = cells;
      EXPECT_THROW(BoxMesh(3, counts, {0, 0, 0}, {1, 1, 1}), std::invalid_argument) << d;
    }
    for (const double upper : {0.0, -1.0, kNan}) {
      Point corner = {1, 1, 1};
      corner[d] = upper;
      EXPECT_THROW(BoxMesh(3, {2, 2, 2}, {0, 0, 0}, corner), std::invalid_argument) << d;
    }
  }
  EXPECT_NO_THROW(BoxMesh(2, {2, 2, 0}, {0, 0, 5}, {1, 1, -5}));
}

}  // namespace
}  // namespace tessera::testing
