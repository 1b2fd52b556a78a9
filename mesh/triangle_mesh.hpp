// A TriangleMesh is an unstructured mesh in the plane, for experiments on assembling; nothing is
// solved on it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "mesh/index.hpp"

namespace tessera {

using PlanePoint = std::array<double, 2>;

/// The numbers of its points.
using Triangle = std::array<Index, 3>;

struct TriangleMesh {
  std::vector<PlanePoint> points;
  std::vector<Triangle> triangles;
};

/// Half of the cross product of two sides: positive where the points turn counterclockwise.
[[nodiscard]] double signed_area(const TriangleMesh& mesh, const Triangle& triangle);

/// The sum of the signed areas.
[[nodiscard]] double signed_area(const TriangleMesh& mesh);

/// Turns each clockwise triangle, so that all areas are positive.
/// @returns the number of triangles turned
Index orient(TriangleMesh& mesh);

/// The sides of all triangles, each once, as points (lower number, higher number) in lexicographic
/// order, and how many triangles have each: 1 on the boundary, 2 inside.
struct TriangleEdges {
  std::vector<std::array<Index, 2>> points;
  std::vector<int> triangles;

  [[nodiscard]] Index boundary_count() const;
};
[[nodiscard]] TriangleEdges edges(const TriangleMesh& mesh);

/// Divides each triangle into four by the middles of its sides. Points keep their numbers, middles
/// follow in the order of edges(), and the parts of triangle t are 4 t to 4 t + 3, oriented as t.
[[nodiscard]] TriangleMesh refined(const TriangleMesh& mesh);

/// The triangles at each point, in increasing order: those of point i are
/// triangles[first[i]] to triangles[first[i + 1] - 1].
struct PointTriangles {
  std::vector<Index> first;
  std::vector<Index> triangles;
};
[[nodiscard]] PointTriangles triangles_at_points(const TriangleMesh& mesh);

/// The most triangles at a point.
[[nodiscard]] Index largest_degree(const TriangleMesh& mesh);

/// Colors for which triangles that share a point differ, the triangles of each in increasing order.
/// Triangle after triangle takes the least color that it may have; so there are at least
/// largest_degree() colors, and seldom as few.
[[nodiscard]] std::vector<std::vector<Index>> greedy_colors(const TriangleMesh& mesh);

/// Gives point i the number numbers[i].
/// @throws std::invalid_argument unless `numbers` is a permutation of 0 .. points - 1
void renumber_points(TriangleMesh& mesh, const std::vector<Index>& numbers);

/// Numbers points as a generator that shuffles them would, the same for a seed on every machine.
void number_randomly(TriangleMesh& mesh, std::uint64_t seed);

/// Numbers points, and sorts triangles by their centers, along a Hilbert curve through the
/// bounding square of the points.
void number_along_hilbert_curve(TriangleMesh& mesh);

}  // namespace tessera
