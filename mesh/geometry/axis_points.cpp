// This file places points along axes.
#include "mesh/geometry/axis_points.hpp"

namespace tessera {

AxisPoints axis_points(const BoxMesh& mesh, std::span<const double> points, int axis) {
  const Index cells = mesh.cells()[axis];
  AxisPoints along;
  for (int d = 0; d < 3; ++d) along.at[d].assign(cells * points.size(), mesh.lower()[d]);
  for (Index c = 0; c < cells; ++c) {
    const double begin = mesh.grid_line(axis, c);
    const double width = mesh.grid_line(axis, c + 1) - begin;
    for (std::size_t q = 0; q < points.size(); ++q) {
      along.at[axis][c * points.size() + q] = begin + width * points[q];
    }
  }
  return along;
}

}  // namespace tessera
