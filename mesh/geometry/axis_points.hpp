// AxisPoints are the points of all cells on a line along an axis.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "mesh/box_mesh.hpp"
#include "mesh/scalar_field.hpp"

namespace tessera {

/// Where functions of one coordinate are evaluated for all cells of an axis-aligned mesh.
struct AxisPoints {
  /// [coordinate][cell][point]: along the axis those of the points, else the mesh's lower corner.
  std::array<std::vector<double>, 3> at;

  PointBlock block() const { return {at[0].size(), at[0].data(), at[1].data(), at[2].data()}; }
};

/// @param points of a cell, on [0, 1]
AxisPoints axis_points(const BoxMesh& mesh, std::span<const double> points, int axis);

}  // namespace tessera
