// These tests refine, color and renumber triangle meshes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <vector>

#include "mesh/triangle_mesh.hpp"

namespace tessera::testing {
namespace {

/// The unit square, n by n squares of two triangles, half of them clockwise.
TriangleMesh square(Index n) {
  TriangleMesh mesh;
  for (Index j = 0; j <= n; ++j) {
    for (Index i = 0; i <= n; ++i) {
      mesh.points.push_back(
          {static_cast<double>(i) / double(n), static_cast<double>(j) / double(n)});
    }
  }
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < n; ++i) {
      const Index corner = j * (n + 1) + i;
      mesh.triangles.push_back({corner, corner + 1, corner + n + 2});
      mesh.triangles.push_back({corner, corner + n + 2, corner + n + 1});
    }
  }
  for (std::size_t t = 0; t < mesh.triangles.size(); t += 2) {
    std::swap(mesh.triangles[t][0], mesh.triangles[t][1]);
  }
  return mesh;
}

TriangleMesh oriented_square(Index n) {
  TriangleMesh mesh = square(n);
  orient(mesh);
  return mesh;
}

std::set<std::set<PlanePoint>> corners_of(const TriangleMesh& mesh) {
  std::set<std::set<PlanePoint>> result;
  for (const Triangle& triangle : mesh.triangles) {
    std::set<PlanePoint> corners;
    for (const Index point : triangle) corners.insert(mesh.points[point]);
    result.insert(corners);
  }
  return result;
}

TEST(TriangleMesh, OrientTurnsClockwiseTrianglesOnly) {
  TriangleMesh mesh = square(4);
  EXPECT_EQ(orient(mesh), 16);
  EXPECT_EQ(orient(mesh), 0);
  for (const Triangle& triangle : mesh.triangles) {
    EXPECT_DOUBLE_EQ(signed_area(mesh, triangle), 0.5 / 16.0);
  }
  EXPECT_DOUBLE_EQ(signed_area(mesh), 1.0);
}

TEST(TriangleMesh, EdgesAreCountedOnceEach) {
  const TriangleMesh mesh = oriented_square(5);
  const TriangleEdges sides = edges(mesh);
  // Euler: points - edges + triangles = 1.
  EXPECT_EQ(std::ssize(sides.points), 36 + 50 - 1);
  EXPECT_EQ(sides.boundary_count(), 20);
  EXPECT_TRUE(std::is_sorted(sides.points.begin(), sides.points.end()));
  for (std::size_t e = 0; e < sides.points.size(); ++e) {
    EXPECT_LT(sides.points[e][0], sides.points[e][1]);
    EXPECT_LE(sides.triangles[e], 2);
  }
}

TEST(TriangleMesh, RefiningDividesEveryTriangleIntoFourOfAQuarter) {
  const TriangleMesh mesh = oriented_square(3);
  const TriangleMesh fine = refined(mesh);
  ASSERT_EQ(fine.triangles.size(), 4 * mesh.triangles.size());
  EXPECT_EQ(fine.points.size(), mesh.points.size() + edges(mesh).points.size());
  EXPECT_EQ(edges(fine).boundary_count(), 2 * edges(mesh).boundary_count());
  for (std::size_t t = 0; t < fine.triangles.size(); ++t) {
    EXPECT_NEAR(signed_area(fine, fine.triangles[t]),
                0.25 * signed_area(mesh, mesh.triangles[t / 4]), 1e-15);
  }
  EXPECT_TRUE(std::equal(mesh.points.begin(), mesh.points.end(), fine.points.begin()));
}

TEST(TriangleMesh, TrianglesAtPointsAreThoseThatHaveThem) {
  const TriangleMesh mesh = oriented_square(4);
  const PointTriangles around = triangles_at_points(mesh);
  Index most = 0;
  for (Index point = 0; point < std::ssize(mesh.points); ++point) {
    std::vector<Index> expected;
    for (Index t = 0; t < std::ssize(mesh.triangles); ++t) {
      const Triangle& triangle = mesh.triangles[t];
      if (std::find(triangle.begin(), triangle.end(), point) != triangle.end()) {
        expected.push_back(t);
      }
    }
    const std::vector<Index> found(around.triangles.begin() + around.first[point],
                                   around.triangles.begin() + around.first[point + 1]);
    EXPECT_EQ(found, expected);
    most = std::max<Index>(most, std::ssize(expected));
  }
  EXPECT_EQ(largest_degree(mesh), most);
  EXPECT_EQ(most, 6);
}

TEST(TriangleMesh, TrianglesOfAColorShareNoPoint) {
  TriangleMesh mesh = refined(oriented_square(5));
  number_along_hilbert_curve(mesh);
  const std::vector<std::vector<Index>> colors = greedy_colors(mesh);
  EXPECT_GE(std::ssize(colors), largest_degree(mesh));
  std::vector<int> seen(mesh.triangles.size(), 0);
  for (const std::vector<Index>& color : colors) {
    ASSERT_FALSE(color.empty());
    EXPECT_TRUE(std::is_sorted(color.begin(), color.end()));
    std::set<Index> points;
    for (const Index t : color) {
      ++seen[t];
      points.insert(mesh.triangles[t].begin(), mesh.triangles[t].end());
    }
    EXPECT_EQ(points.size(), 3 * color.size());
  }
  EXPECT_EQ(seen, std::vector<int>(mesh.triangles.size(), 1));
}

TEST(TriangleMesh, RandomNumbersMoveNoTriangle) {
  const TriangleMesh mesh = oriented_square(6);
  TriangleMesh once = mesh;
  number_randomly(once, 7);
  EXPECT_EQ(corners_of(once), corners_of(mesh));
  EXPECT_NE(once.triangles, mesh.triangles);
  TriangleMesh again = mesh;
  number_randomly(again, 7);
  EXPECT_EQ(again.triangles, once.triangles);
  TriangleMesh other = mesh;
  number_randomly(other, 8);
  EXPECT_NE(other.triangles, once.triangles);
}

// On a square of 2^k by 2^k points, one step along the curve is one step to a neighbor.
TEST(TriangleMesh, NeighborsOnTheHilbertCurveAreNeighbors) {
  for (const Index side : {2, 4, 32}) {
    TriangleMesh mesh = oriented_square(side - 1);
    const std::set<std::set<PlanePoint>> corners = corners_of(mesh);
    number_randomly(mesh, 1);
    number_along_hilbert_curve(mesh);
    EXPECT_EQ(corners_of(mesh), corners);
    for (std::size_t i = 1; i < mesh.points.size(); ++i) {
      const double distance = std::abs(mesh.points[i][0] - mesh.points[i - 1][0]) +
                              std::abs(mesh.points[i][1] - mesh.points[i - 1][1]);
      EXPECT_NEAR(distance * double(side - 1), 1.0, 1e-12) << "point " << i << " of " << side;
    }
  }
}

TEST(TriangleMesh, NumbersMustBeAPermutation) {
  TriangleMesh mesh = oriented_square(1);
  EXPECT_THROW(renumber_points(mesh, {0, 1, 2}), std::invalid_argument);
  EXPECT_THROW(renumber_points(mesh, {0, 1, 2, 2}), std::invalid_argument);
  EXPECT_THROW(renumber_points(mesh, {0, 1, 2, 4}), std::invalid_argument);
  EXPECT_THROW(renumber_points(mesh, {0, 1, 2, -1}), std::invalid_argument);
  renumber_points(mesh, {3, 2, 1, 0});
  EXPECT_EQ(mesh.points[3], (PlanePoint{0.0, 0.0}));
}

}  // namespace
}  // namespace tessera::testing
