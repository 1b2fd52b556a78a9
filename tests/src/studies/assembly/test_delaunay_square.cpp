// These tests look at the first mesh of the study assembly.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "src/studies/assembly/delaunay_square.hpp"

namespace tessera::testing {
namespace {

TEST(DelaunaySquare, HasThePapersNumbers) {
  const TriangleMesh mesh = delaunay_square();
  EXPECT_EQ(std::ssize(mesh.points), 2154);
  EXPECT_EQ(std::ssize(mesh.triangles), 4146);
  const TriangleEdges sides = edges(mesh);
  EXPECT_EQ(std::ssize(sides.points), 6299);
  EXPECT_EQ(sides.boundary_count(), 160);
  EXPECT_NEAR(signed_area(mesh), 4.0, 1e-12);
  EXPECT_EQ(largest_degree(mesh), 8);
  for (const Triangle& triangle : mesh.triangles) EXPECT_GT(signed_area(mesh, triangle), 0.0);
}

/// Twice the area times (squared radius of the circle - squared distance from its center) of a
/// point and the circle through a triangle's corners: positive inside.
double in_circle(const TriangleMesh& mesh, const Triangle& triangle, const PlanePoint& point) {
  std::array<std::array<double, 3>, 3> rows;
  for (int i = 0; i < 3; ++i) {
    const double x = mesh.points[triangle[i]][0] - point[0];
    const double y = mesh.points[triangle[i]][1] - point[1];
    rows[i] = {x, y, x * x + y * y};
  }
  const auto& [a, b, c] = rows;
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
         a[2] * (b[0] * c[1] - b[1] * c[0]);
}

// No neighbor's corner lies in the circle of a triangle; that is enough for all other points.
TEST(DelaunaySquare, CirclesOfTrianglesAreEmpty) {
  const TriangleMesh mesh = delaunay_square();
  std::map<std::array<Index, 2>, Index> opposite;  // of a directed side
  for (const Triangle& triangle : mesh.triangles) {
    for (int i = 0; i < 3; ++i) {
      opposite[{triangle[(i + 1) % 3], triangle[(i + 2) % 3]}] = triangle[i];
    }
  }
  int compared = 0;
  for (const Triangle& triangle : mesh.triangles) {
    for (int i = 0; i < 3; ++i) {
      const auto across = opposite.find({triangle[(i + 2) % 3], triangle[(i + 1) % 3]});
      if (across == opposite.end()) continue;
      EXPECT_LT(in_circle(mesh, triangle, mesh.points[across->second]), 1e-14);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 2 * (6299 - 160));
}

TEST(DelaunaySquare, DamageIsSeen) {
  const TriangleMesh mesh = delaunay_square();
  check_square(mesh);
  TriangleMesh damaged = mesh;
  damaged.triangles.pop_back();
  EXPECT_THROW(check_square(damaged), std::runtime_error);
  damaged = mesh;
  std::swap(damaged.triangles[5][0], damaged.triangles[5][1]);
  EXPECT_THROW(check_square(damaged), std::runtime_error);
  damaged = mesh;
  damaged.triangles[5] = damaged.triangles[6];
  EXPECT_THROW(check_square(damaged), std::runtime_error);
  damaged = mesh;
  damaged.points[0][0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(check_square(damaged), std::runtime_error);
}

}  // namespace
}  // namespace tessera::testing
