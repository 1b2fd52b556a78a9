// These functions make the first mesh of the study assembly.
#pragma once

#include "mesh/triangle_mesh.hpp"

namespace tessera {

/// What any triangulation of the points has, by Euler's formula: T = B + 2 I - 2.
inline constexpr Index kSquareBoundaryPoints = 160;
inline constexpr Index kSquareInteriorPoints = 1994;
inline constexpr Index kSquarePoints = kSquareBoundaryPoints + kSquareInteriorPoints;
inline constexpr Index kSquareTriangles = kSquareBoundaryPoints + 2 * kSquareInteriorPoints - 2;

/// The Delaunay triangles, none clockwise, of points on the boundary of the square [-1, 1]^2, 40
/// equal parts a side, and inside of [-0.98, 0.98]^2, where they follow a sequence of low
/// discrepancy. The paper has as many points and triangles, from a generator that is not free.
/// @throws std::runtime_error if the triangles are not what check_square() asks for, or if Qhull
/// fails
[[nodiscard]] TriangleMesh delaunay_square();

/// @throws std::runtime_error unless the mesh has kSquareTriangles triangles, 160 edges on the
/// boundary and the area 4
void check_square(const TriangleMesh& mesh);

}  // namespace tessera
