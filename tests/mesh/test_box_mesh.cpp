// These tests look at grid lines and cells of box meshes.
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
    EXPECT_TRUE(mesh.is_uniform(d));
    for (Index i = 0; i < n; ++i) {
      EXPECT_EQ(mesh.cell_width(d, i), mesh.cell_width(d, 0));
      EXPECT_NEAR(mesh.grid_line(d, i + 1) - mesh.grid_line(d, i), mesh.cell_width(d, i), 1e-15);
    }
    EXPECT_NEAR(static_cast<double>(n) * mesh.cell_width(d, 0), mesh.upper()[d] - mesh.lower()[d],
                1e-15);
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

TEST(GradedBoxMeshes, HaveTheirGridLinesAndOtherAxesEqualCells) {
  const GridLines lines = {-1.0, -0.9, 0.25, 4.0};
  const BoxMesh mesh(3, {2, 3, 5}, {0, -1, 1}, {1, 4, 2}, {GridLines{}, lines, GridLines{}});
  const BoxMesh uniform(3, {2, 3, 5}, {0, -1, 1}, {1, 4, 2});
  EXPECT_TRUE(uniform.is_uniform());
  EXPECT_FALSE(mesh.is_uniform());
  EXPECT_FALSE(mesh.is_uniform(1));
  for (Index i = 0; i <= 3; ++i) EXPECT_EQ(mesh.grid_line(1, i), lines[i]);
  for (Index c = 0; c < 3; ++c) EXPECT_EQ(mesh.cell_width(1, c), lines[c + 1] - lines[c]);
  for (const int d : {0, 2}) {
    EXPECT_TRUE(mesh.is_uniform(d));
    for (Index i = 0; i <= mesh.cells()[d]; ++i) {
      EXPECT_EQ(mesh.grid_line(d, i), uniform.grid_line(d, i));
    }
    EXPECT_EQ(mesh.cell_width(d, 1), uniform.cell_width(d, 1));
  }
}

TEST(GradedBoxMeshes, DoNotLookAtLinesOfTheThirdAxisIn2D) {
  const BoxMesh mesh(2, {2, 2, 1}, {0, 0, 0}, {1, 1, 0}, {GridLines{}, {}, {3.0, 2.0}});
  EXPECT_TRUE(mesh.is_uniform());
}

TEST(GradedBoxMeshes, RefuseLinesThatDoNotFit) {
  for (const GridLines& wrong :
       {GridLines{0, 1}, GridLines{0, 0.2, 0.4, 1}, GridLines{0.1, 0.5, 1}, GridLines{0, 0.5, 0.9},
        GridLines{0, 0, 1}, GridLines{0, 1, 1}, GridLines{0, -0.5, 1}, GridLines{0, kNan, 1}}) {
    EXPECT_THROW(BoxMesh(2, {3, 2, 1}, {0, 0, 0}, {1, 1, 0}, {GridLines{}, wrong, {}}),
                 std::invalid_argument);
  }
}

TEST(GeometricLines, HaveWidthsOfTheRatioAndExactEnds) {
  for (const double ratio : {0.25, 0.999999, 1.0 + 1e-13, 1.2, 3.0}) {
    for (const Index cells : {1, 2, 17}) {
      const GridLines lines = geometric_lines(-0.7, 0.1, cells, ratio);
      ASSERT_EQ(static_cast<Index>(lines.size()), cells + 1);
      EXPECT_EQ(lines.front(), -0.7);
      EXPECT_EQ(lines.back(), 0.1);
      for (Index c = 1; c < cells; ++c) {
        const double before = lines[c] - lines[c - 1];
        EXPECT_NEAR(lines[c + 1] - lines[c], ratio * before, 1e-15 * (1.0 + ratio)) << ratio;
      }
    }
  }
  const GridLines doubled = geometric_lines(0, 7, 3, 2.0);
  EXPECT_DOUBLE_EQ(doubled[1], 1.0);
  EXPECT_DOUBLE_EQ(doubled[2], 3.0);
  EXPECT_TRUE(geometric_lines(0, 1, 5, 1.0).empty());
}

TEST(GeometricLines, RefuseRatiosThatAreNotPositiveAndNoCells) {
  for (const double ratio : {0.0, -1.0, kNan}) {
    EXPECT_THROW(geometric_lines(0, 1, 3, ratio), std::invalid_argument) << ratio;
  }
  EXPECT_THROW(geometric_lines(0, 1, 0, 2.0), std::invalid_argument);
}

}  // namespace
}  // namespace tessera::testing
